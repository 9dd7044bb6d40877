import { randomBytes } from 'node:crypto';
import { encodeJson, type EndpointId, type HostId, type RawJson, type WorkerId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { connectNats } from '@berth/messaging';
import { MetricRegistry, NO_TRACES, silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { useNatsServer } from '@berth/testing/servers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { JobClient } from '../src/job-client/job-client.js';
import type { Attempt, StopReason } from '../src/job-client/attempts/attempt.js';
import { Journal } from '../src/journal/journal.js';
import { AgentLink } from '../src/session/agent-link.js';
import { TestControlPlane } from './control-plane.js';
import { SlowLine } from './slow-line.js';

const nats = useNatsServer();
const newFolder = useTempFolders();

/** 2 Mbit/s. */
const BYTES_PER_SECOND = 250_000;
const TEST_TIMEOUT_MS = 240_000;
const RUN_MS = 45_000;
/** Long enough for every one of them to wait behind the flood. */
const RENEWALS = 3;
const CHUNK = encodeJson({ output: randomBytes(350_000).toString('base64') });
const LARGE = encodeJson(randomBytes(1_500_000).toString('base64'));
const SHARE = { fileBytesMax: 16 * 2 ** 20, memoryBytesMax: 2 ** 20 };

let line: SlowLine;
let link: AgentLink;
let journal: Journal;
let client: JobClient;
const control = new TestControlPlane();
const stops: { readonly workerId: string; readonly reason: StopReason }[] = [];

beforeEach(async () => {
  control.serve(await nats.connect());
  line = await SlowLine.open(nats.server.url, BYTES_PER_SECOND);
  link = new AgentLink({
    hostId: 'host1' as HostId,
    secret: 's',
    onLogs: () => Promise.reject(new Error('nobody asks')),
    connect: (as) =>
      connectNats({
        url: line.url,
        name: 'agent',
        clock: systemClock,
        random: systemRandom,
        ...as,
        credentials: { kind: 'none' },
      }),
    clock: systemClock,
    logger: silentLogger,
  });
  link.start();
  await link.connected(10_000);
  journal = await Journal.open({ folder: await newFolder(), random: systemRandom });
  const shared = { clock: systemClock, random: systemRandom, metrics: new MetricRegistry(), log: silentLogger };
  client = new JobClient({ ...shared, link, journal, traces: NO_TRACES, share: SHARE });
  client.onStop(({ workerId }, reason) => stops.push({ workerId, reason }));
  client.start();
});
afterEach(async () => {
  await client.stop(0);
  await link.close();
  line.close();
  await journal.close();
  control.router.close();
});

async function take(workerId: string): Promise<Attempt> {
  control.router.submit({ input: '{}' as RawJson, endpointId: workerId });
  const ask = { endpointId: workerId as EndpointId, workerId: workerId as WorkerId, slots: 1, waitMs: 5_000 };
  const outcome = await client.take(ask);
  if (outcome.kind !== 'jobs' || outcome.jobs[0] === undefined) throw new Error(`take brought ${outcome.kind}`);
  await client.prepare(outcome.jobs[0]);
  return outcome.jobs[0].attempt;
}

/** Posts chunks as fast as the agent takes them, one job after the other, each with a large result, until it is told to end. */
async function flood(workerId: string, untilMs: number): Promise<void> {
  while (systemClock.monotonicMs() < untilMs) {
    const attempt = await take(workerId).catch(() => null);
    if (attempt === null) continue;
    const chunks = Array.from({ length: 4 }, () => client.addChunks(attempt, [CHUNK]));
    await Promise.allSettled(chunks);
    await client.settle(attempt, { kind: 'completed', output: LARGE }).catch(() => undefined);
    await eventually(() => expect(client.canTake).toBe(true));
  }
}

test(
  'a worker that posts as fast as it can at 2 Mbit/s costs the job of another worker on its host no attempt',
  async () => {
    const quiet = await take('quiet');
    const untilMs = systemClock.monotonicMs() + RUN_MS;
    const floods = Promise.all(Array.from({ length: 8 }, (_, order) => flood(`greedy${order}`, untilMs)));
    const renewals = (): number => control.router.calls.filter(({ verb }) => verb === 'renew').length;
    await eventually(() => expect(renewals()).toBeGreaterThanOrEqual(RENEWALS), { deadlineMs: RUN_MS });
    expect(line.sentBytes).toBeGreaterThan(2_000_000);
    expect(await client.settle(quiet, { kind: 'completed', output: '"done"' as RawJson })).toBe('accepted');
    await eventually(() => expect(control.router.ended.get(quiet.ref.jobId)?.output).toBe('done'), {
      deadlineMs: 90_000,
    });
    const later = await take('quiet');
    expect(await client.settle(later, { kind: 'completed', output: '"later"' as RawJson })).toBe('accepted');
    await eventually(() => expect(control.router.ended.get(later.ref.jobId)?.output).toBe('later'), {
      deadlineMs: 90_000,
    });
    expect(control.router.losses).toEqual([]);
    expect(stops.filter(({ workerId, reason }) => workerId === 'quiet' || reason === 'untrusted')).toEqual([]);
    await floods;
  },
  TEST_TIMEOUT_MS,
);
