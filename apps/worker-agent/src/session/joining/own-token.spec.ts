import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { StartupError, silentLogger } from '@berth/telemetry';
import { useTempFolders } from '@berth/testing/folders';
import { describe, expect, test } from '@jest/globals';
import { IdentityStore, type HostIdentity } from './identity.store.js';
import { identifyHost } from './join-host.js';
import { hostOfToken, readOwnToken } from './own-token.js';

const newFolder = useTempFolders();
const UID = '0b7e7a0c-9d2f-4c7e-8d57-5f6c7a3b1e11';
const OTHER_UID = '77777777-9d2f-4c7e-8d57-5f6c7a3b1e11';
const NODE = `node-${UID}`;
const INVITATION = 'bjt_dgum9plzi2r0_abc';

const tokenOf = (uid: string | null): string => {
  const node = uid === null ? {} : { node: { name: 'node-1', uid } };
  const claims = { aud: ['berth'], exp: 2_000_000_000, sub: 'system:serviceaccount:a:b', 'kubernetes.io': node };
  return ['{}', JSON.stringify(claims), 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.');
};

describe('the token of a host', () => {
  test('names the invited host, or that of the node of its Pod', () => {
    expect(hostOfToken(INVITATION)).toBe('dgum9plzi2r0');
    expect(hostOfToken(tokenOf(UID))).toBe(NODE);
  });

  test.each([
    ['is none', 'secret'],
    ['is of a Pod that is on no node', tokenOf(null)],
  ])('that %s stops the agent with a sentence without it', (_, token) => {
    expect(() => hostOfToken(token)).toThrow(StartupError);
    expect(() => hostOfToken(token)).not.toThrow(token);
  });

  test('is read from its file each time', async () => {
    const file = join(await newFolder(), 'token');
    expect(await readOwnToken({ token: null, file })).toBeNull();
    await writeFile(file, `${INVITATION}\n`);
    expect(await readOwnToken({ token: null, file })).toBe(INVITATION);
    await expect(readOwnToken({ token: null, file: await newFolder() })).rejects.toThrow('EISDIR');
  });
});

describe('an agent with the token of its Pod', () => {
  const identify = async (known: Partial<HostIdentity> | null): Promise<HostIdentity> => {
    const store = new IdentityStore(await newFolder());
    if (known !== null)
      await store.save({ hostId: NODE as HostId, secret: 'known', isJoined: true, dataCenterId: 'EU-1', ...known });
    return identifyHost({ store, token: tokenOf(UID), random: systemRandom, logger: silentLogger });
  };

  test('is the host of its node from the first start on', async () => {
    expect(await identify(null)).toMatchObject({ hostId: NODE, isJoined: false });
    expect(await identify({})).toMatchObject({ hostId: NODE, secret: 'known', isJoined: true });
  });

  test('stays the host that was invited by hand and has joined', async () => {
    const hostId = 'dgum9plzi2r0' as HostId;
    expect(await identify({ hostId })).toMatchObject({ hostId, secret: 'known' });
    expect(await identify({ hostId, isJoined: false })).toMatchObject({ hostId: NODE, isJoined: false });
  });

  test('does not go on as another node whose disk it has', async () => {
    const identity = await identify({ hostId: `node-${OTHER_UID}` as HostId });
    expect(identity).toMatchObject({ hostId: NODE, isJoined: false });
    expect(identity.secret).not.toBe('known');
  });
});
