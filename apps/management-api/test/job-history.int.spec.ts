import type { AccountId, EndpointId, JobId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { Broker, HistoryReadWatch, NatsLogBroker, ensureTopology, logShard } from '@berth/messaging';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { composeJobHistory } from '../src/job-history/compose-job-history.js';
import type { JobHistoryLoops } from '../src/job-history/job-history-loops.js';
import { JobHistoryService } from '../src/job-history/job-history-service.js';
import { Database } from '../src/persistence/database.js';
import { JobHistoryStore } from '../src/job-history/job-history.store.js';
import { useFleetBench } from './fleet-bench.js';
import { JOB_STORIES, LoggedEndpoint, expectHistoryEqualsOwners } from './logged-endpoint.js';

const SIZE = { replicas: 1, storageBytes: 2 ** 32, memoryBytes: 2 ** 26 } as const;
const ACCOUNT = 'account' as AccountId;
const DEADLINE = { deadlineMs: 90_000 };
const nats = useNatsServer({ access: 'roles' });
const bench = useFleetBench();
const connections: NatsConnection[] = [];
let router: Broker;
let history: JobHistoryStore;
let loops: JobHistoryLoops;
let watch: HistoryReadWatch;
let metrics: MetricRegistry;
let endpoints: LoggedEndpoint[];

beforeEach(async () => {
  endpoints = [];
  metrics = new MetricRegistry();
  router = await openAs('router');
  await ensureTopology({ broker: router, part: 'jobs', size: SIZE, clock: systemClock, random: systemRandom });
  const database = new Database(bench.source);
  history = new JobHistoryStore(database, logShard);
  const lease = await bench.leaderLease();
  loops = composeJobHistory({
    ...{ broker: await openAs('controllers'), lease, database, retentionDays: 30 },
    ...{ clock: systemClock, logger: silentLogger, metrics },
  });
  watch = new HistoryReadWatch({ broker: router, clock: systemClock, onError: () => undefined });
  watch.start();
  loops.start();
});
afterEach(async () => {
  await loops.stop();
  await watch.stop();
  for (const connection of connections.splice(0)) await connection.close();
});

async function openAs(role: 'router' | 'controllers'): Promise<Broker> {
  const connection = await nats.connectAs(role, { reconnectTimeWait: 50, maxReconnectAttempts: -1 });
  connections.push(connection);
  return Broker.over({ connection, inboxPrefix: `_INBOX_${role}`, timeoutMs: 2_000 });
}

async function writeStories(): Promise<void> {
  const log = new NatsLogBroker({ broker: router, clock: systemClock });
  for (const steps of JOB_STORIES) {
    const endpointId = `ep${systemRandom.id(8)}` as EndpointId;
    await bench.addEndpoint(endpointId);
    const endpoint = new LoggedEndpoint(log, { endpointId, nowMs: systemClock.nowMs() - 600_000 });
    endpoints.push(endpoint);
    await endpoint.submit(...steps);
  }
}

/** The history tells what the owners told, and the router knows that all of it has been read. */
const caughtUp = (): Promise<void> =>
  eventually(async () => {
    await expectHistoryEqualsOwners(history, ACCOUNT, endpoints);
    for (const [shard, own] of Map.groupBy(endpoints, ({ endpointId }) => logShard(endpointId))) {
      expect(watch.readThrough(shard)).toBe(Math.max(...own.map(({ sequence }) => sequence)));
    }
  }, DEADLINE);

const valueOf = async (name: string): Promise<number> =>
  Number(
    (await metrics.text())
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length) ?? 0,
  );

test('routers hear what has been read, each in its role, also after an outage of the broker and of the database', async () => {
  await writeStories();
  await caughtUp();
  await bench.postgres.server.stop();
  await endpoints[0]?.submit('cancel');
  await eventually(
    async () => expect(await valueOf('berth_controllers_history_failures_total')).toBeGreaterThan(0),
    DEADLINE,
  );
  await bench.postgres.restart();
  await caughtUp();
  await nats.restart('kill');
  await router.standing();
  const [, second] = endpoints;
  if (second === undefined) throw new Error('there are several');
  await eventually(() => router.manager.streams.info(`LOG_${logShard(second.endpointId)}`), DEADLINE);
  await second.submit('cancel');
  await caughtUp();
  expect(await valueOf('berth_controllers_history_lag_seconds')).toBeLessThan(30);
});

test('routers that ask are told of the end of a job, and that the history is whole', async () => {
  await writeStories();
  await caughtUp();
  const service = new JobHistoryService(history);
  for (const { endpointId, told } of endpoints) {
    const place = { accountId: ACCOUNT, endpointId };
    const reply = await service.list({ ...place, statuses: ['COMPLETED', 'FAILED'], before: null, limit: 9 });
    expect(reply.completeUntilMs).toBeGreaterThan(systemClock.nowMs() - 30_000);
    for (const [jobId, job] of told) expect((await service.get({ ...place, jobId })).job).toEqual(job);
  }
  const other = { accountId: 'other' as AccountId, endpointId: endpoints[2]?.endpointId as EndpointId };
  expect(await service.get({ ...other, jobId: endpoints[2]?.jobIds[0] as JobId })).toMatchObject({ job: null });
});
