import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { HostId } from '@berth/domain';
import { useTempFolders } from '@berth/testing/folders';
import { describe, expect, test } from '@jest/globals';
import { IdentityStore, type HostIdentity } from './identity.store.js';

const newFolder = useTempFolders();
const IDENTITY: HostIdentity = { hostId: 'h1' as HostId, secret: 'x', isJoined: false, dataCenterId: '' };

describe('IdentityStore', () => {
  test('has none in a new home', async () => {
    expect(await new IdentityStore(await newFolder()).load()).toBeNull();
  });

  test('gives back what was saved last, and leaves no draft', async () => {
    const home = await newFolder();
    const store = new IdentityStore(home);
    await store.save(IDENTITY);
    await store.save({ ...IDENTITY, isJoined: true });
    expect(await new IdentityStore(home).load()).toEqual({ ...IDENTITY, isJoined: true });
    expect(await readdir(home)).toEqual(['identity.json']);
  });

  test('keeps the secret from other users of the machine', async () => {
    const home = await newFolder();
    await new IdentityStore(home).save(IDENTITY);
    expect((await stat(join(home, 'identity.json'))).mode & 0o077).toBe(0);
  });

  test.each(['', '{', '{"hostId":"h1"}', 'null'])('does not take "%s" for an identity', async (text) => {
    const home = await newFolder();
    await writeFile(join(home, 'identity.json'), text);
    await expect(new IdentityStore(home).load()).rejects.toThrow('identity.json');
  });

  test('does not show its secret when it cannot be read', async () => {
    const home = await newFolder();
    await writeFile(join(home, 'identity.json'), '{"secret":hidden}');
    const error: unknown = await new IdentityStore(home).load().catch((thrown: unknown) => thrown);
    expect(inspect(error)).toContain('is not JSON');
    expect(inspect(error)).not.toContain('hidden');
  });
});
