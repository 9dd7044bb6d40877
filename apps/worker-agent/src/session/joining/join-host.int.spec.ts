import { Writable } from 'node:stream';
import { hostSubject, inboxPrefix, stopSubject, wakeSubject, type JoinRequest } from '@berth/contracts';
import { PlatformError, type HostId, type Inventory } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { connectNats } from '@berth/messaging';
import { StartupError, createLogger, silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { useNatsServer } from '@berth/testing/servers';
import type { NatsConnection } from '@nats-io/transport-node';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AgentLink } from '../agent-link.js';
import { IdentityStore, type HostIdentity } from './identity.store.js';
import { hashSecret, identifyHost, joinHost, type ConnectAs, type JoinOptions } from './join-host.js';

const nats = useNatsServer();
const newFolder = useTempFolders();
const TOKEN = 'bjt_h1_abcdefghijklmnopqrstuvwxyz';
const HOST = 'h1' as HostId;

let control: NatsConnection;
let joins: JoinRequest[];
let answer: (request: JoinRequest) => object;
let beforeAnswer: () => Promise<void>;
let logins: ConnectAs[];

beforeAll(async () => {
  control = await nats.connect();
  control.subscribe(hostSubject('*', 'join'), {
    callback: (_, message) => {
      const { body } = message.json<{ body: JoinRequest }>();
      joins.push(body);
      void beforeAnswer().then(() => message.respond(JSON.stringify({ v: 1, ...answer(body) })));
    },
  });
});

beforeEach(() => {
  joins = [];
  logins = [];
  beforeAnswer = async () => undefined;
  answer = () => ({ result: { hostId: HOST, dataCenterId: 'EU-1' } });
});

const connect = (as: ConnectAs): Promise<NatsConnection> => {
  logins.push(as);
  return connectNats({ url: nats.server.url, name: 'test', clock: systemClock, random: systemRandom, ...as });
};
async function join(home: string, token: string | null = TOKEN, more: Partial<JoinOptions> = {}): Promise<unknown> {
  const own = { store: new IdentityStore(home), token, logger: silentLogger, ...more };
  const inventory = async (): Promise<Inventory> => ({ vcpus: 2 }) as Inventory;
  const identity = await identifyHost({ ...own, random: systemRandom });
  return joinHost(identity, { inventory, connect, clock: systemClock, ...own });
}
const error = (code: string, isRetriable: boolean): object => ({
  error: { code, detail: `about ${code}`, isRetriable },
});

const LINK = {
  hostId: HOST,
  secret: 's',
  clock: systemClock,
  logger: silentLogger,
  onLogs: () => Promise.reject(new Error('nobody asks')),
};

describe('joinHost', () => {
  test('joins with the token, proves itself by a secret that is on disk before it is told, and stays joined', async () => {
    const home = await newFolder();
    const store = new IdentityStore(home);
    let saved: HostIdentity | null = null;
    beforeAnswer = async () => {
      saved = await store.load();
    };
    const identity = await join(home);
    const secret = (await store.load())?.secret ?? '';
    expect(saved).toEqual({ hostId: HOST, secret, isJoined: false, dataCenterId: '' });
    expect(identity).toEqual({ hostId: HOST, secret, isJoined: true, dataCenterId: 'EU-1' });
    expect(logins[0]?.credentials).toEqual({ kind: 'password', user: 'join', pass: TOKEN });
    expect(logins[0]?.inboxPrefix).toBe(inboxPrefix(HOST));
    expect(joins).toEqual([{ token: TOKEN, secretHash: hashSecret(secret), inventory: { vcpus: 2 } }]);
    expect(await join(home)).toEqual(identity);
    expect(await join(home, null)).toEqual(identity);
    expect(joins).toHaveLength(1);
  });

  test('repeats itself with the same secret when the answer was lost', async () => {
    const home = await newFolder();
    answer = () => error('service-unavailable', true);
    const joined = join(home);
    await eventually(() => expect(joins.length).toBeGreaterThan(0));
    answer = () => ({ result: { hostId: HOST, dataCenterId: 'EU-1' } });
    await joined;
    expect(new Set(joins.map(({ secretHash }) => secretHash)).size).toBe(1);
  });

  test('says once that it waits, then every 30 s how long and why, and that it has joined', async () => {
    const lines: string[] = [];
    const output = new Writable({ write: (chunk: Buffer, _, done) => (lines.push(chunk.toString()), done()) });
    const logger = createLogger({ name: 'worker-agent', level: 'info', format: 'line', output });
    const clock = new ManualClock();
    answer = () => error('service-unavailable', true);
    const joined = join(await newFolder(), TOKEN, { clock, logger });
    const isRefused = (times: number): Promise<void> =>
      eventually(() => expect([joins.length, clock.waiting]).toEqual([times, 1]), { intervalMs: 2 });
    for (let second = 1; second <= 45; second += 1) {
      await isRefused(second);
      await clock.advance(1_000);
    }
    await isRefused(46);
    answer = () => ({ result: { hostId: HOST, dataCenterId: 'EU-1' } });
    await clock.advance(1_000);
    await joined;
    const why = 'the control plane does not answer: about service-unavailable';
    expect(lines.map((line) => line.replace(/^\S+ /, ''))).toEqual([
      `WARN  worker-agent  waiting to join  why=${why}\n`,
      `WARN  worker-agent  still waiting to join  waitedSeconds=30 why=${why}\n`,
      `INFO  worker-agent  joined  hostId=h1 dataCenterId=EU-1\n`,
    ]);
  });

  test.each([
    { what: 'a refused token', token: TOKEN, why: 'about invalid-join-token' },
    { what: 'no token', token: null, why: 'set BERTH_JOIN_TOKEN' },
    { what: 'a token that is none', token: 'secret', why: 'it looks like bjt_' },
  ])('stops the start and says why: $what', async ({ token, why }) => {
    answer = () => error('invalid-join-token', false);
    const failure = await join(await newFolder(), token).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(StartupError);
    expect(String(failure)).toContain(why);
  });

  test('becomes another host when it is given a token for one', async () => {
    const home = await newFolder();
    await join(home);
    answer = () => ({ result: { hostId: 'h2', dataCenterId: 'EU-1' } });
    expect(await join(home, 'bjt_h2_abcdef')).toMatchObject({ hostId: 'h2', isJoined: true });
    expect(new Set(joins.map(({ secretHash }) => secretHash)).size).toBe(2);
  });
});

describe('AgentLink', () => {
  test('asks, hears hints and stops, and does so again after the broker was away', async () => {
    const link = new AgentLink({ ...LINK, connect });
    await expect(link.ask('renew', { leases: [] }, { timeoutMs: 1_000 })).rejects.toThrow('no connection');
    let wakes = 0;
    const stops: unknown[] = [];
    link.onWake(() => (wakes += 1));
    link.onStop((message) => stops.push(message));
    link.start();
    await eventually(() => link.check());
    expect(wakes).toBe(1);
    control.publish(wakeSubject(HOST));
    control.publish(stopSubject(HOST), JSON.stringify({ v: 1, body: { jobs: [] } }));
    await eventually(() => expect([wakes, stops]).toEqual([2, [{ jobs: [] }]]));
    await nats.restart('kill');
    await eventually(() => expect(wakes).toBeGreaterThanOrEqual(3), { deadlineMs: 90_000 });
    await eventually(async () => {
      control.publish(stopSubject(HOST), JSON.stringify({ v: 1, body: { jobs: [] } }));
      await control.flush();
      expect(stops.length).toBeGreaterThan(1);
    });
    await link.close();
    await expect(link.check()).rejects.toThrow('no connection');
  });

  test('is not ready while its line for payload does not stand: no end of a job could be told', async () => {
    const stuck = ({ signal }: ConnectAs): Promise<never> =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('given up')), { once: true });
      });
    let lines = 0;
    const halfway = (as: ConnectAs) => ((lines += 1) === 1 ? connect(as) : stuck(as));
    const options = { ...LINK, connect: halfway };
    const link = new AgentLink(options);
    const stands = new Promise<void>((resolve) => link.onWake(() => resolve()));
    link.start();
    await stands;
    await expect(link.check()).rejects.toThrow('no connection');
    await link.close();
  });

  test('tells a refusal by its code', async () => {
    control.subscribe(hostSubject(HOST, 'report'), {
      callback: (_, message) => {
        message.respond(JSON.stringify({ v: 1, ...error('host-not-found', false) }));
      },
    });
    await control.flush();
    const link = new AgentLink({ ...LINK, connect });
    link.start();
    await eventually(() => link.check());
    const report = { secret: 's', instanceId: 'i', sequence: 1, inventory: {} as Inventory, workers: [] };
    await expect(link.report(report)).rejects.toThrow(PlatformError);
    await link.close();
  });
});
