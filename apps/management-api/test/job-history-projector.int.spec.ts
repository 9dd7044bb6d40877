import {
  describeJob,
  encodeJson,
  isEnded,
  isGone,
  type EndpointId,
  type HostId,
  type Job,
  type JobId,
  type JobKey,
  type WorkerId,
} from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import {
  Broker,
  JetStreamBlobs,
  JetStreamChunks,
  JetStreamDeliveries,
  JetStreamJobRecords,
  JetStreamLeases,
  JetStreamReservations,
  JetStreamTickets,
  JobEventSource,
  ensureTopology,
} from '@berth/messaging';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { REAL_OPERATIONS, eventually, useNatsServer, type Operations } from '@berth/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import type { ProjectedHistory } from '../src/job-history/job-history-records.port.js';
import { JobHistoryLoops } from '../src/job-history/job-history-loops.js';
import { JobHistoryProjector } from '../src/job-history/job-history-projector.js';
import { jobHistoryMetrics } from '../src/job-history/metrics.js';
import { NatsRecordSource } from '../src/job-history/nats-record-source.js';
import type { RecordSource } from '../src/job-history/record-source.port.js';
import { Database } from '../src/persistence/database.js';
import { JobHistoryPartitions } from '../src/persistence/job-history-partitions.js';
import { JobHistoryStore } from '../src/persistence/stores/job-history.store.js';
import type { LeaderTerm } from '../src/persistence/stores/leader-lease.store.js';
import { useFleetBench } from './fleet-bench.js';

// Real servers on a machine that may be busy with other tests: a passing test is far quicker.
jest.setTimeout(120_000);

type JobStore = Parameters<Operations['submitJob']>[0];

const { cancel, finishAttempt, giveUpAttempt, purgeQueue, retry, submitJob, takeTicket } = REAL_OPERATIONS;
const SIZE = { replicas: 1, storageBytes: 2 ** 32, memoryBytes: 2 ** 26 } as const;
const ACCOUNT = 'account';
const DEADLINE_MS = 20_000;
const nats = useNatsServer({ access: 'roles' });
const bench = useFleetBench();
const connections: NatsConnection[] = [];
let broker: Broker;
let jobs: JobStore;
let source: NatsRecordSource;
let history: JobHistoryStore;
let partitions: JobHistoryPartitions;
let term: LeaderTerm;
let endpointId: EndpointId;
/** Every job that was ever submitted in the test. */
let keys: JobKey[];

beforeAll(async () => {
  broker = await openAs('router');
  await ensureTopology({ broker, part: 'jobs', size: SIZE, clock: systemClock, random: systemRandom });
  connections.length = 0;
});

beforeEach(async () => {
  // Streams outlive a test, so each has an endpoint of its own.
  endpointId = `ep${systemRandom.id(8)}` as EndpointId;
  keys = [];
  await bench.addEndpoint(endpointId);
  term = (await bench.leaderLease()).currentTerm();
  const database = new Database(bench.source);
  history = new JobHistoryStore(database);
  partitions = new JobHistoryPartitions(database);
  source = new NatsRecordSource(await openAs('controllers'), systemClock);
  jobs = storeOf(broker);
});
afterEach(async () => {
  for (const connection of connections.splice(0)) await connection.close();
});

async function openAs(role: 'router' | 'controllers'): Promise<Broker> {
  const connection = await nats.connectAs(role, { reconnectTimeWait: 50, maxReconnectAttempts: -1 });
  connections.push(connection);
  return Broker.over({ connection, inboxPrefix: `_INBOX_${role}`, timeoutMs: 2_000 });
}

const storeOf = (over: Broker): JobStore => ({
  records: Object.assign(new JetStreamJobRecords(over), { recall: () => null }),
  tickets: new JetStreamTickets(over),
  leases: new JetStreamLeases(over),
  blobs: new JetStreamBlobs(over),
  chunks: new JetStreamChunks(over),
  deliveries: new JetStreamDeliveries(over, () => 0),
  reservations: new JetStreamReservations(over),
  stopSignals: { send: () => undefined },
  clock: systemClock,
  random: systemRandom,
});

/** What may be told to happen to a job, one step after the other. */
const STEPS = {
  take: async (job: Job) => {
    const place = { hostId: 'h1' as HostId, workerId: 'w1' as WorkerId };
    const { attempt, endpointId, id: jobId, lowPriority: isLowPriority, notBeforeMs } = job;
    const ticket = { endpointId, jobId, attempt, isLowPriority, notBeforeMs };
    expect(await takeTicket(jobs, ticket as never, place)).toMatchObject({ kind: 'taken' });
  },
  complete: (job: Job) =>
    finish(job, { kind: 'completed', output: { kind: 'inline', json: encodeJson(1) }, chunks: 0 }),
  fail: (job: Job) => finish(job, { kind: 'failed', error: 'it\0broke', output: null, chunks: 0 }),
  timeOut: (job: Job) => finish(job, { kind: 'timed-out', error: 'executionTimeout exceeded', chunks: 0 }),
  cancel: (job: Job) => cancel(jobs, keyOf(job)),
  lose: (job: Job) =>
    giveUpAttempt(jobs, { ...keyOf(job), attempt: job.attempt, reason: 'worker lost', isCharged: false }),
  retry: (job: Job) => retry(jobs, keyOf(job)),
  purge: () => purgeQueue(jobs, endpointId),
} as const;
type Step = keyof typeof STEPS;

const keyOf = ({ endpointId, id }: Job): JobKey => ({ endpointId, jobId: id });
const finish = (job: Job, result: Parameters<typeof finishAttempt>[2]) =>
  finishAttempt(jobs, { ...keyOf(job), token: job.current?.token ?? '' }, result);

async function submit(...steps: readonly Step[]): Promise<JobKey> {
  const job = await submitJob(jobs, systemRandom.uuid() as JobId, {
    endpointId,
    accountId: ACCOUNT as Job['accountId'],
    origin: 'run',
    input: encodeJson({ secret: 'x' }),
    extras: encodeJson({}),
    sealedExtras: null,
    reservation: null,
    webhook: null,
    executionTimeoutMs: 60_000,
    ttlMs: 3_600_000,
    retentionMs: 1_800_000,
    isLowPriority: false,
    traceparent: null,
  });
  keys.push(keyOf(job));
  for (const step of steps) await act(keyOf(job), step);
  return keyOf(job);
}

async function act(key: JobKey, step: Step): Promise<void> {
  const stored = await jobs.records.read(key);
  if (stored === null) throw new Error('the job is gone');
  await STEPS[step](stored.job);
}

const MIX: readonly (readonly Step[])[] = [
  [],
  ['take'],
  ['take', 'complete'],
  ['take', 'fail'],
  ['take', 'timeOut'],
  ['cancel'],
  ['take', 'cancel'],
  ['take', 'lose'],
  ['take', 'lose', 'take', 'complete'],
  ['take', 'fail', 'retry'],
  ['take', 'fail', 'retry', 'take', 'complete'],
  ['take', 'timeOut', 'retry'],
  ['take', 'fail', 'retry', 'take', 'timeOut'],
];

const submitMix = async (): Promise<void> => {
  for (const steps of MIX) await submit(...steps);
};

function projector(parts: { source?: RecordSource; history?: ProjectedHistory; term?: LeaderTerm } = {}) {
  const places = async (): Promise<void> => void (await partitions.keep({ past: 30, ahead: 3 }));
  return new JobHistoryProjector({
    source,
    history,
    term,
    ...parts,
    keepPlaces: places,
    clock: systemClock,
    logger: silentLogger,
    metrics: jobHistoryMetrics(new MetricRegistry()),
  });
}

const goOn = (): AbortSignal => new AbortController().signal;
const run = (each: JobHistoryProjector): Promise<void> => each.run(goOn());

/** Of every job the history tells what its record tells if it has ended, and nothing otherwise. */
async function expectHistoryEqualsRecords(): Promise<void> {
  const nowMs = systemClock.nowMs();
  for (const key of keys) {
    const stored = await jobs.records.read(key);
    const found = await history.find({ ...key, accountId: ACCOUNT as Job['accountId'] });
    const hasEnded = stored !== null && isEnded(stored.job.state) && !isGone(stored.job, nowMs);
    expect(found).toEqual(hasEnded ? describeJob(stored.job, nowMs) : null);
  }
  const statuses = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'] as const;
  const listed = await history.list({
    accountId: ACCOUNT as Job['accountId'],
    endpointId,
    statuses,
    before: null,
    limit: 101,
  });
  const known = new Set(keys.map(({ jobId }) => jobId));
  expect(listed.filter(({ jobId }) => !known.has(jobId))).toEqual([]);
}

/** The stream of events is a moment behind the records. */
const settle = (each: JobHistoryProjector): Promise<void> =>
  eventually(
    async () => {
      await run(each);
      await expectHistoryEqualsRecords();
    },
    { deadlineMs: DEADLINE_MS },
  );

/** Ends like a process that dies: at its `steps`-th call, before that has had its effect, or after it. */
class Crash extends Error {}
function dyingAt<T extends object>(target: T, countdown: { left: number }, when: 'before' | 'after'): T {
  return new Proxy(target, {
    get: (object, name) => {
      const member: unknown = Reflect.get(object, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): unknown => {
        countdown.left -= 1;
        const isLast = countdown.left === 0;
        if (isLast && when === 'before') throw new Crash();
        const result: unknown = Reflect.apply(member, object, given);
        if (!isLast || !(result instanceof Promise)) return result;
        return result.then(() => Promise.reject(new Crash()));
      };
    },
  });
}

const inSmallBatches = (): RecordSource => {
  const events = new JobEventSource({ broker, countMax: 3 });
  return {
    events: (after) => events.read(after),
    versions: (signal) => source.versions(signal),
    read: (key) => source.read(key),
  };
};

describe('the job history equals the records', () => {
  test('after a run of mixed jobs, while they change, and when what it has read comes again', async () => {
    const each = projector();
    await submitMix();
    await settle(each);
    const [first] = keys;
    if (first === undefined) throw new Error('there are jobs');
    await act(first, 'take');
    await act(first, 'fail');
    await settle(each);
    await act(first, 'retry');
    await settle(each);
    await history.project({ rows: [], removed: [] }, { position: null, completeUntilMs: 0 }, term);
    await settle(projector());
  });

  test('after a purge of the queue', async () => {
    await submit();
    await submit('take', 'fail', 'retry');
    const each = projector();
    await settle(each);
    expect(await history.unended(10)).toHaveLength(1);
    await STEPS.purge();
    await settle(each);
    await eventually(async () => {
      await run(each);
      expect(await history.unended(10)).toEqual([]);
    });
  });

  test.each(['before', 'after'] as const)('after crashes %s each of its steps', async (when) => {
    await submitMix();
    let crashes = 0;
    for (let steps = 1; ; steps += 1) {
      const countdown = { left: steps };
      const each = projector({
        source: dyingAt(inSmallBatches(), countdown, when),
        history: dyingAt<ProjectedHistory>(history, countdown, when),
      });
      try {
        await run(each);
        break;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        crashes += 1;
      }
    }
    expect(crashes).toBeGreaterThan(8);
    await settle(projector());
  });

  test('after events were dropped before they were read', async () => {
    const each = projector();
    await submitMix();
    await settle(each);
    await submitMix();
    const { position = null } = (await history.progress()) ?? {};
    await broker.manager.streams.purge('EV');
    expect((await source.events(position)).isInterrupted).toBe(true);
    await settle(each);
    await submitMix();
    await settle(each);
  });

  test('after another leader has taken over in the middle, who alone goes on', async () => {
    await submitMix();
    const first = projector({ source: inSmallBatches() });
    await bench.source.query('UPDATE leader_leases SET term = term + 1');
    await run(first);
    expect(await history.progress()).toBeNull();
    const next = await bench.leaderLease('next', 60_000);
    expect(await next.acquire()).toBe(false);
    const number = term.number + 1;
    const other: LeaderTerm = { name: term.name, number, isOver: () => false };
    await settle(projector({ term: other }));
    const progress = await history.progress();
    await submitMix();
    await run(first);
    expect(await history.progress()).toEqual(progress);
    await settle(projector({ term: other }));
  });

  test.each<[string, Partial<Job>]>([
    ['that the database refuses', { attempt: 0 }],
    ['that no calendar knows', { createdAtMs: 1e300 }],
  ])('after a version %s, which alone is left out', async (_what, bad) => {
    await submitMix();
    const key = await submit();
    keys.pop();
    await submitMix();
    const stored = await jobs.records.read(key);
    if (stored === null) throw new Error('the job is there');
    const ended = { ...stored.job, state: 'COMPLETED', endedAtMs: systemClock.nowMs(), ...bad } as const;
    await jobs.records.replace(ended, stored.sequence, 60_000);
    const each = projector();
    await settle(each);
    await run(each);
    expect(each.completeUntilMs).not.toBeNull();
  });

  test('after an outage of the database, and one of the broker', async () => {
    const metrics = new MetricRegistry();
    const lease = await bench.leaderLease();
    const loops = new JobHistoryLoops({
      lease,
      history,
      newProjector: (own) => projector({ term: own }),
      clock: systemClock,
      logger: silentLogger,
      metrics,
    });
    loops.start();
    try {
      const caughtUp = (): Promise<void> => eventually(expectHistoryEqualsRecords, { deadlineMs: DEADLINE_MS });
      await submitMix();
      await caughtUp();
      await bench.postgres.server.stop();
      await submitMix();
      await eventually(async () => {
        expect(await metrics.text()).toMatch(/controllers_history_failures_total [1-9]/);
      });
      await bench.postgres.restart();
      await caughtUp();
      await nats.restart('kill');
      await eventually(() => submitMix(), { deadlineMs: DEADLINE_MS });
      await caughtUp();
      const lag = /controllers_history_lag_seconds ([\d.]+)/.exec(await metrics.text())?.[1];
      expect(Number(lag)).toBeLessThan(30);
    } finally {
      await loops.stop();
    }
  });
});

test('rows of a deleted endpoint are cleared away by the loop', async () => {
  await submitMix();
  await settle(projector());
  await bench.source.query(`UPDATE endpoints SET deleted_at = now() WHERE id = $1`, [endpointId]);
  const lease = await bench.leaderLease();
  const options = { lease, history, clock: systemClock, logger: silentLogger, metrics: new MetricRegistry() };
  const loops = new JobHistoryLoops({ ...options, newProjector: (own) => projector({ term: own }) });
  loops.start();
  await eventually(async () => {
    const [count] = await bench.source.query<{ count: string }[]>('SELECT count(*) FROM job_history');
    expect(count?.count).toBe('0');
  });
  await loops.stop();
});
