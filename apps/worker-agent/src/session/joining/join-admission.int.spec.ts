import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostSubject, type JoinRequest } from '@berth/contracts';
import type { HostId, Inventory } from '@berth/domain';
import { systemClock, systemRandom, type Clock } from '@berth/lifecycle';
import { admitAgent, connectNats, readAuthRequest, refuseAgent, type AuthRequest } from '@berth/messaging';
import { StartupError, silentLogger, type Logger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { useNatsServer } from '@berth/testing/servers';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { AgentLink } from '../agent-link.js';
import { IdentityStore, type HostIdentity } from './identity.store.js';
import { HostJoining } from './host-joining.js';
import { hashSecret, identifyHost, joinHost, type ConnectAs } from './join-host.js';
import { hostOfToken } from './own-token.js';

const nats = useNatsServer({ access: 'roles' });
const newFolder = useTempFolders();
const HOST = 'h1' as HostId;
const TOKEN = 'bjt_h1_abcdefghijklmnopqrstuvwxyz';
const SPEED = 50;
/** Far more than go by until a host is sure that it is refused. */
const REFUSALS = 24;

/** The limits of a join are tens of seconds, and nothing here takes long. */
const fastClock: Clock = {
  ...systemClock,
  monotonicMs: () => systemClock.monotonicMs() * SPEED,
  sleep: (ms, signal) => systemClock.sleep(ms / SPEED, signal),
  after: (ms, act) => systemClock.after(ms / SPEED, act),
};

/** What the control plane knows, as its admission and its join do it. */
const known: { token: string | null; secretHash: string | null; spent: string | null } = {
  token: null,
  secretHash: null,
  spent: null,
};

function hostOf({ user, password = '' }: AuthRequest): HostId | null {
  if (user === 'join') return password === known.token ? hostOfToken(password) : null;
  if (user === 'join-refused') return password === known.spent ? HOST : null;
  return hashSecret(password) === known.secretHash ? (user as HostId) : null;
}

beforeAll(async () => {
  const options = { issuerSeeds: [nats.keys.issuer] as const, account: 'APP' };
  const callout = await nats.connectAs('callout');
  callout.subscribe('$SYS.REQ.USER.AUTH', {
    callback: (_, message) => {
      const request = readAuthRequest(message.string());
      const hostId = hostOf(request);
      const answer =
        hostId === null
          ? refuseAgent(request, 'no', options)
          : admitAgent(
              request,
              { hostId, nowMs: systemClock.nowMs(), isRefused: request.user === 'join-refused' },
              options,
            );
      void answer.then((text) => message.respond(text));
    },
  });
  const sessions = await nats.connectAs('sessions');
  sessions.subscribe(hostSubject('*', 'join'), {
    callback: (_, message) => {
      if (known.spent !== null) {
        const detail = 'The join token has been used. Make a new one with POST /v2/hosts/join-tokens.';
        message.respond(JSON.stringify({ v: 1, error: { code: 'join-token-used', detail, isRetriable: false } }));
        return;
      }
      known.secretHash = message.json<{ body: JoinRequest }>().body.secretHash;
      known.token = null;
      message.respond(JSON.stringify({ v: 1, result: { hostId: HOST, dataCenterId: 'EU-1' } }));
    },
  });
  await Promise.all([callout.flush(), sessions.flush()]);
});

const connect = (as: ConnectAs) =>
  connectNats({ url: nats.server.url, name: 'test', clock: fastClock, random: systemRandom, ...as });
async function joinAs(home: string): Promise<HostIdentity> {
  const own = { store: new IdentityStore(home), token: TOKEN, logger: silentLogger };
  const inventory = async (): Promise<Inventory> => ({ vcpus: 2 }) as Inventory;
  return joinHost(await identifyHost({ ...own, random: systemRandom }), {
    ...own,
    inventory,
    connect,
    clock: fastClock,
  });
}

describe('a host that joins through the broker’s admission', () => {
  test('is let in with its token once, and with its own secret from then on', async () => {
    known.token = TOKEN;
    const identity = await joinAs(await newFolder());
    expect(identity).toMatchObject({ hostId: HOST, isJoined: true });
    const link = new AgentLink({
      ...identity,
      connect,
      clock: systemClock,
      logger: silentLogger,
      onLogs: () => Promise.reject(new Error('nobody asks')),
    });
    link.start();
    await eventually(() => link.check());
    await link.close();
  });

  test('whose token is used up stops with a sentence that says what to do', async () => {
    known.token = null;
    const failure = await joinAs(await newFolder()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartupError);
    expect(String(failure)).toContain('Ask for a new one');
  });

  test('whose token is used up says that it was used, and how to get a new one', async () => {
    known.token = null;
    known.spent = TOKEN;
    const failure = await joinAs(await newFolder()).catch((error: unknown) => error);
    known.spent = null;
    expect(failure).toBeInstanceOf(StartupError);
    expect(String(failure)).toContain('has been used. Make a new one with POST /v2/hosts/join-tokens');
  });

  test('and is removed while it runs says once that it was, and what to do', async () => {
    known.token = TOKEN;
    const home = await newFolder();
    const identity = await joinAs(home);
    const lines: string[] = [];
    const note =
      (level: string): Logger['warn'] =>
      (message, fields) => {
        lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
      };
    const logger: Logger = { ...silentLogger, info: note('info'), warn: note('warn'), error: note('error') };
    const tools = { connect, clock: fastClock, random: systemRandom, logger };
    const joining = new HostJoining({ home, tokenPlace: { token: TOKEN, file: null }, ...tools });
    const onAdmission = joining.returning(identity, async () => ({ vcpus: 2 }) as Inventory);
    const onLogs = () => Promise.reject(new Error('nobody asks'));
    known.secretHash = null;
    let refusals = 0;
    const told = Promise.withResolvers<undefined>();
    const link = new AgentLink({
      ...{ ...identity, connect, clock: systemClock, logger, onLogs },
      onAdmission: (isAdmitted) => {
        refusals += isAdmitted ? 0 : 1;
        onAdmission(isAdmitted);
        if (refusals === REFUSALS) told.resolve(undefined);
      },
    });
    link.start();
    await told.promise;
    await link.close();
    const said = lines.filter((line) => !line.startsWith('info broker'));
    expect(said).toEqual([expect.stringMatching(/^warn .*refuses this host.*removed.*berth host join/)]);
    // One of each of the two connections.
    expect(lines.filter((line) => line.includes('Authorization Violation'))).toHaveLength(2);
  });

  test('that was killed before it heard the answer joins with the secret that it had written down', async () => {
    const home = await newFolder();
    await new IdentityStore(home).save({ hostId: HOST, secret: 'mine', isJoined: false, dataCenterId: '' });
    known.token = null;
    known.secretHash = hashSecret('mine');
    expect(await joinAs(home)).toEqual({ hostId: HOST, secret: 'mine', isJoined: true, dataCenterId: '' });
  });
});

describe('a node that joins with the token of its Pod', () => {
  const UID = '0b7e7a0c-9d2f-4c7e-8d57-5f6c7a3b1e11';
  const inventory = async (): Promise<Inventory> => ({ vcpus: 2 }) as Inventory;
  const newToken = (jti: number): string => {
    const claims = {
      aud: ['berth'],
      exp: 2e9,
      sub: 'agent',
      jti,
      'kubernetes.io': { node: { name: 'node-1', uid: UID } },
    };
    return ['{}', JSON.stringify(claims), 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.');
  };
  const open = async (token: string) => {
    const home = await newFolder();
    const file = join(home, 'token');
    await writeFile(file, token);
    const tools = { connect, clock: fastClock, random: systemRandom, logger: silentLogger };
    return { file, joining: new HostJoining({ home, tokenPlace: { token: null, file }, ...tools }) };
  };

  test('is let in as the host of its node, and once more with its next token where it was forgotten', async () => {
    known.token = newToken(1);
    const { file, joining } = await open(known.token);
    const identity = await joining.join(await joining.identify(), inventory);
    expect(identity).toMatchObject({ hostId: `node-${UID}`, isJoined: true, dataCenterId: 'EU-1' });
    const tell = joining.returning(identity, inventory);
    Object.assign(known, { secretHash: null, token: newToken(2) });
    await writeFile(file, newToken(2));
    await eventually(() => {
      tell(false);
      expect(known.secretHash).toBe(hashSecret(identity.secret));
    });
    expect(await joining.identify()).toEqual(identity);
  });

  test('whose token is refused says so, and not with which token', async () => {
    known.token = null;
    const token = newToken(3);
    const { joining } = await open(token);
    const failure = await joining.join(await joining.identify(), inventory).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartupError);
    expect(String(failure)).toContain('The token of this Pod was refused');
    expect(String(failure)).not.toContain(token);
  });
});
