import { hostSubject, inboxPrefix, jobSubject, withdrawSubject } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { createLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { Writable } from 'node:stream';
import { AgentServer } from './agent-server.js';
import { AgentTransport } from './agent-transport.js';
import { isRetriable } from './wire-codec.js';

const TIMEOUT_MS = 30_000;
const MINUTE_MS = 60_000;
/** Above what any verb may have under way, and what any may send at once. */
const FLOOD = 5_000;
const nats = useNatsServer();
/** Stands still, so that no rate fills again unless a test says so. */
const clock = new ManualClock();
const refused: string[] = [];
const lines: string[] = [];
const heard: unknown[] = [];
let handled = 0;
let underWay = 0;
let mostUnderWay = 0;
let held = Promise.withResolvers<void>();
let connection: NatsConnection;
let server: AgentServer;

const logger = createLogger({
  name: 'test',
  level: 'info',
  format: 'json',
  output: new Writable({
    write: (line: Buffer, _, done) => {
      lines.push(line.toString());
      done();
    },
  }),
});

beforeAll(async () => {
  connection = await nats.connect();
  server = new AgentServer({
    connection,
    queue: 'job-router',
    drainMs: 0,
    clock,
    logger,
    onRefused: (fault) => refused.push(fault),
  });
  server.addHandler(jobSubject('*', 'take'), async () => {
    handled += 1;
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    await held.promise;
    underWay -= 1;
    return { kind: 'none' };
  });
  for (const subject of [jobSubject('*', 'done'), jobSubject('*', 'renew'), hostSubject('*', 'report')]) {
    server.addHandler(subject, () => {
      handled += 1;
      return Promise.resolve('answered');
    });
  }
  server.addHandler(withdrawSubject('*'), (body: unknown) => Promise.resolve(void heard.push(body)), true);
  await new Promise<unknown>((resolve) => {
    server.listen(resolve);
  });
});
afterAll(async () => {
  held.resolve();
  await server.close();
});
afterEach(() => {
  held.resolve();
});
beforeEach(() => {
  for (const list of [refused, lines, heard]) list.length = 0;
  [handled, mostUnderWay] = [0, 0];
  held = Promise.withResolvers<void>();
});

const agentOf = async (hostId: string): Promise<AgentTransport> =>
  new AgentTransport(await nats.connect({ inboxPrefix: inboxPrefix(hostId as HostId) }));

const ask = (agent: AgentTransport, subject: string, times: number) =>
  Array.from({ length: times }, () => agent.request(subject, {}, { timeoutMs: TIMEOUT_MS }));

/** What each was refused with. */
const faultsOf = async (asked: readonly Promise<unknown>[]): Promise<readonly unknown[]> =>
  (await Promise.allSettled(asked)).flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));

describe('a host that asks without end', () => {
  test('has a bounded number of takes held, and is told to come again', async () => {
    const agent = await agentOf('host-many');
    const asked = faultsOf(ask(agent, jobSubject('host-many' as HostId, 'take'), FLOOD));
    await eventually(() => {
      expect(handled + refused.length).toBe(FLOOD);
    });
    expect(mostUnderWay).toBe(4_096);
    held.resolve();
    const faults = await asked;
    expect(faults).toHaveLength(FLOOD - 4_096);
    expect(faults[0]).toMatchObject({ code: 'rate-limited' });
    expect(faults.every(isRetriable)).toBe(true);
    expect(new Set(refused)).toEqual(new Set(['too-many-at-once']));
  });

  test('is handled at a bounded rate, and again after the time that this takes', async () => {
    const agent = await agentOf('host-fast');
    const subject = hostSubject('host-fast' as HostId, 'report');
    const report = async (): Promise<boolean> => (await faultsOf(ask(agent, subject, 1))).length === 0;
    let taken = 0;
    while (taken < FLOOD && (await report())) taken += 1;
    expect(taken).toBe(250);
    expect(refused).toEqual(['too-fast']);
    await clock.advance(1_000);
    expect(await report()).toBe(true);
  });

  test('costs neither its own leases and ends of jobs nor another host anything', async () => {
    const agent = await agentOf('host-loud');
    const takes = faultsOf(ask(agent, jobSubject('host-loud' as HostId, 'take'), FLOOD));
    await eventually(() => {
      expect(handled + refused.length).toBe(FLOOD);
    });
    for (const verb of ['done', 'renew'] as const) {
      expect(await faultsOf(ask(agent, jobSubject('host-loud' as HostId, verb), 1))).toEqual([]);
    }
    const quiet = await agentOf('host-quiet');
    const honest = ask(quiet, jobSubject('host-quiet' as HostId, 'take'), 1);
    held.resolve();
    expect(await faultsOf(honest)).toEqual([]);
    await takes;
  });

  test('is counted each time and logged once a minute', async () => {
    const agent = await agentOf('host-log');
    const subject = hostSubject('host-log' as HostId, 'report');
    const flood = async (): Promise<void> => {
      for (let n = 0; n < 50; n += 1) await faultsOf(ask(agent, subject, 8));
    };
    await flood();
    expect(refused).toHaveLength(150);
    const told = (): readonly string[] => lines.filter((line) => line.includes('host-log'));
    expect(told()).toHaveLength(1);
    await clock.advance(MINUTE_MS);
    await flood();
    expect(refused).toHaveLength(300);
    expect(told()).toHaveLength(2);
  });

  test('and tells without end is not heard above its rate', async () => {
    const agent = await agentOf('host-tells');
    for (let n = 0; n < FLOOD; n += 1) agent.tell(withdrawSubject('host-tells' as HostId), n);
    await eventually(() => {
      expect(heard.length + refused.length).toBe(FLOOD);
    });
    expect(heard).toHaveLength(4_000);
  });
});
