import { NOTHING_UNREAD, ToldDemands, viewJob, type EndpointId, type JobId, type ToldDemand } from '@berth/domain';
import { RouterLogs, type LogBroker } from '@berth/endpoint-log';
import { atEndOfTurn, systemClock, systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Broker } from '../../src/broker/broker.js';
import { NatsLogBroker } from '../../src/endpoint-log/nats-log-broker.js';
import { NatsShardClaims } from '../../src/endpoint-log/nats-shard-claims.js';
import { LOG_SHARDS, logShard } from '../../src/topology/shards.js';
import { ensure, openBroker } from '../open-broker.js';
import { endpointCalled, submissionAt } from './owner-scene.js';

const nats = useNatsServer();
let broker: Broker;
let logs: LogBroker;
const running = new Set<RouterLogs>();

beforeAll(async () => {
  broker = await openBroker(nats);
  await ensure(broker, 'jobs');
  logs = new NatsLogBroker({ broker, clock: systemClock });
});
afterEach(async () => {
  await Promise.all([...running].map((router) => router.handOver()));
  running.clear();
});
afterAll(() => broker.connection.close());

interface Router {
  readonly logs: RouterLogs;
  readonly shards: Set<number>;
  readonly lost: string[];
}

function startRouter(routerId: string): Router {
  const [shards, lost] = [new Set<number>(), [] as string[]];
  const router = new RouterLogs({
    self: { routerId, incarnation: systemRandom.id(12), reads: 1 },
    shardCount: LOG_SHARDS,
    broker: logs,
    claims: new NatsShardClaims(broker),
    clock: systemClock,
    random: systemRandom,
    atEndOfTurn,
    shardOf: logShard,
    purgeable: () => NOTHING_UNREAD,
    provenDead: () => new Set(),
    formatOf: () => 1,
    onTouched: () => undefined,
    onDeliveriesDue: () => undefined,
    onLooked: () => undefined,
    onEvent: () => undefined,
    onError: (name, error) => lost.push(`${name}: ${String(error)}`),
    listener: {
      onTaken: (shard) => shards.add(shard),
      onLost: (shard) => shards.delete(shard),
      onTrustChanged: () => undefined,
      onDone: () => undefined,
    },
  });
  router.start();
  running.add(router);
  return { logs: router, shards, lost };
}

/** As an edge asks: whoever owns the endpoint answers, the others are silent, and it is asked again until somebody does. */
async function atOwner<Answer>(
  routers: readonly Router[],
  endpointId: EndpointId,
  ask: (log: Parameters<Parameters<RouterLogs['ask']>[1]['use']>[0], told: (answer: Answer | null) => void) => void,
): Promise<Answer> {
  return eventually(async () => {
    for (const { logs: router } of routers) {
      const answer = await new Promise<Answer | null>((resolve) =>
        router.ask(endpointId, { refuse: () => resolve(null), use: (log) => ask(log, resolve) }),
      );
      if (answer !== null) return answer;
    }
    throw new Error(`nobody answers for ${endpointId}`);
  });
}

const submit = (routers: readonly Router[], endpointId: EndpointId, jobId: JobId): Promise<string> =>
  atOwner<string>(routers, endpointId, (log, told) =>
    log.perform(submissionAt(systemClock.nowMs(), jobId), (outcome) =>
      told(outcome.kind === 'settled' ? outcome.answer.kind : null),
    ),
  );

const stateOf = (routers: readonly Router[], endpointId: EndpointId, jobId: JobId): Promise<string> =>
  atOwner<string>(routers, endpointId, (log, told) =>
    log.read(
      (state, atMs) => viewJob(state, { endpointId, jobId }, atMs)?.state ?? 'gone',
      (outcome) => told(outcome.kind === 'settled' ? outcome.answer : null),
    ),
  );

/** Everything that the routers can tell of demand now. */
const toldBy = (routers: readonly Router[]): readonly ToldDemand[] =>
  routers.flatMap(({ logs: router }) =>
    router.ownedShards().flatMap(({ shard }) => {
      const all = router.takeAll(shard);
      return all === null ? [] : [{ ...all, part: { index: 0, count: 1 } }];
    }),
  );

test('a job that waits is told of by whoever owns it, and by nobody as none, while shards change hands', async () => {
  const first = startRouter('r1');
  await eventually(() => expect(first.shards.size).toBe(LOG_SHARDS));
  const endpointIds = Array.from({ length: 32 }, (_, at) => endpointCalled(`d${at}`));
  for (const endpointId of endpointIds) await submit([first], endpointId, systemRandom.uuid() as JobId);
  const demands = new ToldDemands(120_000);
  const waiting = (): readonly (number | undefined)[] => {
    const nowMs = systemClock.monotonicMs();
    return endpointIds.map(
      (id) => demands.demandOf({ endpointId: id, shard: logShard(id), type: 'QUEUE' }, nowMs)?.queuedNormal,
    );
  };
  const saidNone: EndpointId[] = [];
  const hear = (told: readonly ToldDemand[]): void => {
    for (const each of told) demands.hear(each, systemClock.monotonicMs());
    saidNone.push(...endpointIds.filter((_, at) => waiting()[at] === 0));
  };
  const early = await eventually(() => {
    const told = toldBy([first]);
    expect(told).toHaveLength(LOG_SHARDS);
    return told;
  });
  hear(early);
  expect(waiting()).toEqual(endpointIds.map(() => 1));

  const second = startRouter('r2');
  const owners = await eventually(
    () => {
      const told = toldBy([first, second]);
      hear(told);
      expect(toldBy([second])).toHaveLength(8);
      expect(told).toHaveLength(LOG_SHARDS);
      return told;
    },
    { deadlineMs: 90_000 },
  );
  // Each word of a shard that changed hands is of a later term, so what the former owner had said does not come back.
  const termsOf = (told: readonly ToldDemand[]): ReadonlyMap<number, number> =>
    new Map(told.map(({ shard, term }) => [shard, term]));
  const risen = [...termsOf(owners)].filter(([shard, term]) => term > (termsOf(early).get(shard) ?? 0));
  expect(risen).toHaveLength(8);
  hear(early.map((told) => ({ ...told, demands: new Map() })).filter(({ shard }) => second.shards.has(shard)));
  await first.logs.handOver();
  await eventually(() => {
    hear(toldBy([first, second]));
    expect(toldBy([second])).toHaveLength(LOG_SHARDS);
    expect(waiting()).toEqual(endpointIds.map(() => 1));
  });
  expect(saidNone).toEqual([]);
});

test('two routers share the shards, and whoever stays answers for all of them', async () => {
  const first = startRouter('r1');
  await eventually(() => expect(first.shards.size).toBe(LOG_SHARDS));
  const endpointIds = Array.from({ length: 32 }, (_, at) => endpointCalled(`e${at}`));
  const jobs = endpointIds.map((endpointId) => ({ endpointId, jobId: systemRandom.uuid() as JobId }));
  for (const { endpointId, jobId } of jobs) expect(await submit([first], endpointId, jobId)).toBe('accepted');
  const second = startRouter('r2');
  await eventually(() => expect([first.shards.size, second.shards.size]).toEqual([8, 8]), { deadlineMs: 90_000 });
  expect([...first.shards].filter((shard) => second.shards.has(shard))).toEqual([]);
  for (const { endpointId, jobId } of jobs) expect(await stateOf([first, second], endpointId, jobId)).toBe('IN_QUEUE');
  await first.logs.handOver();
  for (const { endpointId, jobId } of jobs) expect(await stateOf([second], endpointId, jobId)).toBe('IN_QUEUE');
  expect([...first.lost, ...second.lost]).toEqual([]);
});
