import type { HistoryReadMessage } from '@berth/contracts';
import type { AccountId, EndpointId, JobId, UnreadableMessage } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { Broker, LOG_SHARDS, NatsLogBroker, ShardLogSource, ensureTopology, logShard } from '@berth/messaging';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { composeJobHistory } from '../src/job-history/compose-job-history.js';
import type { ShardLogReader } from '../src/job-history/shard-log-reader.port.js';
import { JobHistoryProjector } from '../src/job-history/job-history-projector.js';
import { jobHistoryMetrics } from '../src/job-history/metrics.js';
import type { ProjectedHistory } from '../src/job-history/projected-history.port.js';
import { Database } from '../src/persistence/database.js';
import { JobHistoryPartitions } from '../src/job-history/job-history-partitions.js';
import { JobHistoryStore } from '../src/job-history/job-history.store.js';
import type { LeaderTerm } from '../src/leadership/leader-lease.js';
import { useFleetBench } from './fleet-bench.js';
import { JOB_STORIES, LoggedEndpoint, expectHistoryEqualsOwners, type JobStep } from './logged-endpoint.js';

const SIZE = { replicas: 1, storageBytes: 2 ** 32, memoryBytes: 2 ** 26 } as const;
const ACCOUNT = 'account' as AccountId;
const DEADLINE = { deadlineMs: 90_000 };
const nats = useNatsServer();
const bench = useFleetBench();
const connections: NatsConnection[] = [];
let broker: Broker;
let source: ShardLogSource;
let history: JobHistoryStore;
let term: LeaderTerm;
let endpoints: LoggedEndpoint[];
let noted: UnreadableMessage[];

beforeEach(async () => {
  endpoints = [];
  noted = [];
  broker = await open();
  await makeStreams();
  term = (await bench.leaderLease()).currentTerm();
  history = new JobHistoryStore(new Database(bench.source), logShard);
  source = new ShardLogSource(broker);
});
afterEach(async () => {
  for (let shard = 0; shard < LOG_SHARDS; shard += 1) await broker.manager.streams.delete(`LOG_${shard}`);
  for (const connection of connections.splice(0)) await connection.close();
});

async function open(): Promise<Broker> {
  const connection = await nats.connect({ reconnectTimeWait: 50, maxReconnectAttempts: -1 });
  connections.push(connection);
  return Broker.over({ connection, timeoutMs: 2_000, onUnreadable: (message) => noted.push(message) });
}

const makeStreams = (): Promise<void> =>
  ensureTopology({ broker, part: 'jobs', size: SIZE, clock: systemClock, random: systemRandom });

async function newEndpoint(shard?: number): Promise<LoggedEndpoint> {
  for (;;) {
    const endpointId = `ep${systemRandom.id(8)}` as EndpointId;
    if (shard !== undefined && logShard(endpointId) !== shard) continue;
    await bench.addEndpoint(endpointId);
    const log = new NatsLogBroker({ broker, clock: systemClock });
    const endpoint = new LoggedEndpoint(log, { endpointId, nowMs: systemClock.nowMs() - 600_000 });
    endpoints.push(endpoint);
    return endpoint;
  }
}

/** One endpoint for each story, so that shards have several of them. */
async function writeMix(): Promise<void> {
  for (const steps of JOB_STORIES) await (await newEndpoint()).submit(...steps);
}

interface Parts {
  readonly source?: ShardLogReader;
  readonly history?: ProjectedHistory;
  readonly term?: LeaderTerm;
  readonly tellRead?: (message: HistoryReadMessage) => void;
  readonly metrics?: MetricRegistry;
}

function projector({ metrics = new MetricRegistry(), ...parts }: Parts = {}): JobHistoryProjector {
  const partitions = new JobHistoryPartitions(new Database(bench.source));
  return new JobHistoryProjector({
    source,
    shards: LOG_SHARDS,
    history,
    term,
    tellRead: () => undefined,
    keepPlaces: async () => void (await partitions.keep({ past: 30, ahead: 3 })),
    clock: systemClock,
    logger: silentLogger,
    ...parts,
    metrics: jobHistoryMetrics(metrics),
  });
}

const run = (each: JobHistoryProjector): Promise<void> => each.run(new AbortController().signal);

const expectTold = (of: readonly LoggedEndpoint[] = endpoints): Promise<void> =>
  expectHistoryEqualsOwners(history, ACCOUNT, of);

const valueOf = async (metrics: MetricRegistry, name: string): Promise<number> =>
  Number(
    (await metrics.text())
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length) ?? 0,
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
        // Who is dead does nothing any more.
        if (countdown.left < 0 || (countdown.left === 0 && when === 'before')) throw new Crash();
        const result: unknown = Reflect.apply(member, object, given);
        if (countdown.left > 0 || !(result instanceof Promise)) return result;
        return result.then(() => Promise.reject(new Crash()));
      };
    },
  });
}

describe('the job history equals what the owners told', () => {
  test('after a run of mixed jobs, while they change, and when another projector goes on', async () => {
    await writeMix();
    const each = projector();
    await run(each);
    await expectTold();
    const [first] = endpoints;
    const [jobId] = first?.jobIds ?? [];
    if (first === undefined || jobId === undefined) throw new Error('there are jobs');
    for (const step of ['take', 'fail', 'retry', 'take', 'cancel', 'let-go'] as const) {
      await first.act(jobId, step);
      await run(step === 'retry' ? projector() : each);
      await expectTold([first]);
    }
    expect(each.completeUntilMs).not.toBeNull();
  });

  test('after a purge of the queue, which takes nothing of what had ended', async () => {
    const endpoint = await newEndpoint();
    await endpoint.submit('take', 'complete');
    const again = await endpoint.submit('take', 'fail', 'retry');
    await endpoint.submit('cancel');
    await endpoint.submit();
    const each = projector();
    await run(each);
    await endpoint.act(again, 'purge');
    await run(each);
    expect(endpoint.told.size).toBe(2);
    await expectTold();
  });

  test('when everything is read once more from the beginning', async () => {
    await writeMix();
    await run(projector());
    await bench.source.query('DELETE FROM job_history_shards');
    await run(projector());
    await expectTold();
  });

  test.each(['before', 'after'] as const)('after crashes %s each of its steps', async (when) => {
    await writeMix();
    let crashes = 0;
    for (let steps = 1; ; steps += 1) {
      const countdown = { left: steps };
      try {
        await run(
          projector({
            source: dyingAt<ShardLogReader>(source, countdown, when),
            history: dyingAt<ProjectedHistory>(history, countdown, when),
          }),
        );
        break;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        crashes += 1;
      }
    }
    // Every run asks how far the history is and reads each shard; how much there is beside is a matter of who was quicker.
    expect(crashes).toBeGreaterThan(LOG_SHARDS);
    await expectTold();
  });

  test('after a transaction that failed at its very end, of which nothing is left', async () => {
    await writeMix();
    await bench.source.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the machine is gone' USING ERRCODE = '57P01'; END $$`);
    await bench.source.query(`CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON job_history_shards
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`);
    const each = projector();
    await expect(run(each)).rejects.toMatchObject({ code: 'service-unavailable' });
    expect(await bench.source.query('SELECT FROM job_history')).toEqual([]);
    for (const { position } of (await history.progress()).values()) expect(position.sequence).toBe(0);
    await bench.source.query('DROP TRIGGER refuse ON job_history_shards');
    await run(each);
    await expectTold();
  });

  test('where one has read a page and another is quicker to write it, and more', async () => {
    const endpoint = await newEndpoint();
    const jobId = await endpoint.submit('take', 'give-back', 'take', 'fail');
    const outcomes: unknown[] = [];
    const quicker = projector();
    const slow = projector({
      history: writing(async (write) => {
        await run(quicker);
        await endpoint.act(jobId, 'retry');
        await run(quicker);
        outcomes.push(await write());
      }),
    });
    await run(slow);
    expect(outcomes).toEqual([null]);
    await expectTold();
    const shard = logShard(endpoint.endpointId);
    expect((await history.progress()).get(shard)?.position.sequence).toBe(endpoint.sequence);
    await run(slow);
    expect(outcomes).toEqual([null]);
  });

  test('where two read everything at once, again and again', async () => {
    const metrics = new MetricRegistry();
    const [one, other] = [projector({ metrics }), projector({ metrics })];
    let written = 0;
    for (let round = 0; round < 4; round += 1) {
      await writeMix();
      written += JOB_STORIES.filter((steps) => steps.some((step) => ENDING.has(step))).length;
      await Promise.all([run(one), run(other)]);
      await Promise.all([run(one), run(other)]);
    }
    await expectTold();
    // Each story lay in one page, or in two where somebody read in its midst: no row was written for nothing.
    expect(await valueOf(metrics, 'berth_controllers_history_rows_total')).toBe(written);
  });
});

const ENDING: ReadonlySet<JobStep> = new Set(['complete', 'fail', 'time-out', 'cancel', 'give-back', 'lose']);

/** The history with something in the place of its writes of rows. */
function writing(instead: (write: () => Promise<unknown>) => Promise<void>): ProjectedHistory {
  return {
    progress: () => history.progress(),
    begin: (...given) => history.begin(...given),
    known: (places) => history.known(places),
    confirm: (shards) => history.confirm(shards),
    write: async (logged, move) => {
      if (logged.length === 0) return history.write(logged, move);
      let outcome: Awaited<ReturnType<ProjectedHistory['write']>> = null;
      await instead(async () => (outcome = await history.write(logged, move)));
      return outcome;
    },
  };
}

describe('a shard', () => {
  const SHARD = 5;
  const endpointOf = (): Promise<LoggedEndpoint> => newEndpoint(SHARD);

  test('whose stream was made anew is read from its beginning', async () => {
    const before = await endpointOf();
    await before.submit('take', 'complete');
    await before.submit('take', 'fail');
    const each = projector();
    await run(each);
    const known = (await history.progress()).get(SHARD);
    await broker.manager.streams.delete(`LOG_${SHARD}`);
    await makeStreams();
    await (await endpointOf()).submit('take', 'complete');
    await run(each);
    await expectTold();
    const { position } = (await history.progress()).get(SHARD) ?? {};
    expect(position?.streamCreated).not.toBe(known?.position.streamCreated);
    expect(position?.sequence).toBe(3);
  });

  test('with a batch that cannot be read is read on behind it, and the batch is named once', async () => {
    const metrics = new MetricRegistry();
    const bad = await endpointOf();
    await bad.submit('take', 'complete');
    await bad.write('{"kind":"cancelled","atMs":1}');
    await bad.write('no fact');
    const good = await endpointOf();
    await good.submit('take', 'fail');
    const each = projector({ metrics });
    await run(each);
    await run(each);
    await run(projector());
    await expectTold();
    expect(noted.map(({ place, reason }) => [place, reason])).toEqual([
      ['endpoint log', 'fact 0 (cancelled): $.jobId must be an id'],
      ['endpoint log', 'a line of it is no fact'],
    ]);
    expect(await valueOf(metrics, 'berth_controllers_history_left_out_total{reason="unreadable"}')).toBe(2);
    expect(each.completeUntilMs).not.toBeNull();
  });

  test('of which batches went unread is read on behind them, and they are counted', async () => {
    const metrics = new MetricRegistry();
    const each = projector({ metrics });
    const purged = await endpointOf();
    await purged.submit('take', 'complete');
    await run(each);
    await purged.submit('take', 'fail');
    const read = await endpointOf();
    await read.submit('take', 'fail');
    await broker.manager.streams.purge(`LOG_${SHARD}`, { filter: `log.${SHARD}.${purged.endpointId}` });
    await run(each);
    await expectTold([read]);
    const { accountId, endpointId } = { accountId: ACCOUNT, endpointId: purged.endpointId };
    const [kept, lost] = purged.jobIds as [JobId, JobId];
    expect(await history.find({ accountId, endpointId, jobId: kept })).toEqual(purged.told.get(kept));
    expect(await history.find({ accountId, endpointId, jobId: lost })).toBeNull();
    expect(await valueOf(metrics, 'berth_controllers_history_missed_batches_total')).toBe(3);
    expect(each.completeUntilMs).not.toBeNull();
  });

  test('with a row that the database refuses lacks that row alone', async () => {
    const metrics = new MetricRegistry();
    const endpoint = await endpointOf();
    await endpoint.submit('take', 'complete');
    const summary = { origin: 'run', createdAtMs: endpoint.nowMs, queuedAtMs: endpoint.nowMs, webhook: null };
    const at = { attempt: 0, startedAtMs: null, hostId: null, workerId: null };
    const fact = { kind: 'cancelled', atMs: endpoint.nowMs, jobId: 'odd', summary: { ...summary, ...at } };
    await endpoint.write(JSON.stringify(fact));
    await endpoint.submit('take', 'give-back', 'take', 'complete');
    await endpoint.submit('cancel');
    await run(projector({ metrics }));
    await expectTold();
    expect(await valueOf(metrics, 'berth_controllers_history_left_out_total{reason="refused"}')).toBe(1);
  });

  test('that does not answer stops no other', async () => {
    const away = await endpointOf();
    await away.submit('cancel');
    const near = await newEndpoint(SHARD + 1);
    await near.submit('cancel');
    let isAway = true;
    const partly: ShardLogReader = {
      read: async (shard, after) => {
        if (isAway && shard === SHARD) throw new Error('no answer');
        return source.read(shard, after);
      },
    };
    const each = projector({ source: partly });
    await expect(run(each)).rejects.toThrow('no answer');
    await expectTold([near]);
    expect(each.completeUntilMs).toBeNull();
    isAway = false;
    await run(each);
    await expectTold();
    expect(each.completeUntilMs).not.toBeNull();
  });
});

describe('jobs of an endpoint', () => {
  const countRows = async (): Promise<string | undefined> =>
    (await bench.source.query<{ count: string }[]>('SELECT count(*) FROM job_history'))[0]?.count;

  test('that nobody has, or that was deleted, are not told', async () => {
    const metrics = new MetricRegistry();
    const deleted = await newEndpoint();
    await deleted.submit('take', 'complete');
    await bench.source.query('UPDATE endpoints SET deleted_at = now()');
    const log = new NatsLogBroker({ broker, clock: systemClock });
    const unknown = new LoggedEndpoint(log, { endpointId: 'nobody' as EndpointId, nowMs: deleted.nowMs });
    await unknown.submit('take', 'complete');
    await run(projector({ metrics }));
    expect(await countRows()).toBe('0');
    expect(await valueOf(metrics, 'berth_controllers_history_left_out_total{reason="ownerless"}')).toBe(2);
  });

  test('that is deleted later are cleared away by the loop', async () => {
    await writeMix();
    const lease = await bench.leaderLease();
    const loops = composeJobHistory({
      ...{ broker, lease, database: new Database(bench.source), retentionDays: 30 },
      ...{ clock: systemClock, logger: silentLogger, metrics: new MetricRegistry() },
    });
    await run(projector());
    expect(Number(await countRows())).toBeGreaterThan(10);
    await bench.source.query(`UPDATE endpoints SET deleted_at = now()`);
    loops.start();
    await eventually(async () => expect(await countRows()).toBe('0'), DEADLINE);
    await loops.stop();
  });
});

describe('routers', () => {
  test('are told what has been written, and nothing before it is', async () => {
    const told: HistoryReadMessage[] = [];
    const shards = async (): Promise<HistoryReadMessage['shards']> =>
      [...(await history.progress())].map(([shard, { position }]) => ({ shard, ...position }));
    const clock = new ManualClock(systemClock.nowMs());
    const partitions = new JobHistoryPartitions(new Database(bench.source));
    const each = new JobHistoryProjector({
      ...{ source, history, term, clock, shards: LOG_SHARDS, logger: silentLogger },
      tellRead: (message) => void told.push(message),
      keepPlaces: async () => void (await partitions.keep({ past: 30, ahead: 3 })),
      metrics: jobHistoryMetrics(new MetricRegistry()),
    });
    await writeMix();
    await run(each);
    expect(told).toEqual([{ shards: [] }]);
    await clock.advance(2_000);
    await writeMix();
    const before = await shards();
    await run(each);
    expect(told[1]?.shards.toSorted(byShard)).toEqual(before.toSorted(byShard));
    await run(each);
    expect(told).toHaveLength(2);
    await clock.advance(2_000);
    await run(each);
    expect(told[2]?.shards.toSorted(byShard)).toEqual((await shards()).toSorted(byShard));
  });
});

const byShard = (a: { readonly shard: number }, b: { readonly shard: number }): number => a.shard - b.shard;

test('who asks is told up to when the history of an endpoint is whole', async () => {
  const endpoint = await newEndpoint();
  expect(await history.completeUntilMs(endpoint.endpointId)).toBeNull();
  const beforeMs = systemClock.nowMs();
  await run(projector());
  expect(await history.completeUntilMs(endpoint.endpointId)).toBeGreaterThanOrEqual(beforeMs);
  const ended: LeaderTerm = { ...term, isOver: () => true };
  const atMs = await history.completeUntilMs(endpoint.endpointId);
  await endpoint.submit('cancel');
  await run(projector({ term: ended }));
  expect(await history.completeUntilMs(endpoint.endpointId)).toBe(atMs);
  expect(
    await history.list({
      accountId: ACCOUNT,
      endpointId: endpoint.endpointId,
      statuses: ['CANCELLED'],
      before: null,
      limit: 9,
    }),
  ).toEqual([]);
});
