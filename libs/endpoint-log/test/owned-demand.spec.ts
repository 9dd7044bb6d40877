import {
  ENDPOINT_BOUNDS_DEFAULT,
  NOTHING_UNREAD,
  NO_DEMAND,
  PlatformError,
  encodeJson,
  type CommandOutcome,
  type Demand,
  type EndpointCommand,
  type EndpointId,
  type HostId,
  type JobId,
  type WorkerId,
} from '@berth/domain';
import { ManualClock, SeededRandom, letRun } from '@berth/testing';
import { HeldLogBroker } from '@berth/testing/log-simulator';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { LogOwner, type LogHead, type SettledAnswer } from '../src/index.js';

const A = 'a' as EndpointId;
const B = 'b' as EndpointId;
const SHARD = 0;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const HOLDER = { hostId: 'h' as HostId, workerId: 'w' as WorkerId };

/** A broker of one shard, whose index comes when the test lets it, or is refused. */
class Broker extends HeldLogBroker {
  heldIndex: PromiseWithResolvers<void> | null = null;

  override async *heads(): AsyncGenerator<LogHead> {
    // As it is when it is asked for.
    const heads = this.model.headsNow();
    await this.heldIndex?.promise;
    yield* heads;
  }
}

/** A router of which everything but its logs is the test's to say. */
class Router {
  readonly owner: LogOwner;
  isTrusted = true;
  #count = 0;

  constructor(
    readonly routerId: string,
    readonly broker: Broker,
    readonly clock: ManualClock,
  ) {
    this.owner = new LogOwner({
      ...{ routerId, broker, clock, random: new SeededRandom(routerId.length) },
      atEndOfTurn: (run) => process.nextTick(run),
      shardOf: () => SHARD,
      trusts: () => this.isTrusted,
      purgeable: () => NOTHING_UNREAD,
      onTouched: () => undefined,
      onDeliveriesDue: () => undefined,
      onLooked: () => undefined,
      onEvent: () => undefined,
    });
  }

  perform(
    endpointId: EndpointId,
    command: EndpointCommand,
  ): Promise<SettledAnswer<CommandOutcome>['kind'] | 'refused'> {
    return new Promise((resolve) =>
      this.owner.ask(endpointId, {
        refuse: () => resolve('refused'),
        use: (log) => log.perform(command, ({ kind }) => resolve(kind)),
      }),
    );
  }

  submit(endpointId: EndpointId, ttlMs = HOUR_MS): Promise<string> {
    this.#count += 1;
    const body = { input: { kind: 'inline', json: encodeJson({}) }, extras: encodeJson({}) } as const;
    const job = {
      ...{ jobId: `${this.routerId}-${this.#count}` as JobId, origin: 'run' as const, retentionMs: 1_000, ttlMs },
      ...{ executionTimeoutMs: HOUR_MS, isLowPriority: false, webhook: null, bodyBytes: 2 },
      body: { ...body, sealedExtras: null, traceparent: null },
    } as const;
    const asked = { sentAtMs: this.clock.nowMs(), key: null, takers: [], bounds: ENDPOINT_BOUNDS_DEFAULT } as const;
    return this.perform(endpointId, { kind: 'submit', ...asked, jobs: [job] });
  }

  take(endpointId: EndpointId): Promise<string> {
    const wish = { takeId: `t${this.#count}`, ...HOLDER, slots: 9, secret: 's' };
    return this.perform(endpointId, { kind: 'take', sentAtMs: this.clock.nowMs(), wishes: [wish] });
  }

  cancel(endpointId: EndpointId, jobId: string): Promise<string> {
    return this.perform(endpointId, { kind: 'cancel', sentAtMs: this.clock.nowMs(), jobId: jobId as JobId });
  }

  changed(max = 100): unknown {
    return queued(this.owner.takeChangedDemand(SHARD, max));
  }

  all(): unknown {
    return queued(this.owner.takeDemand(SHARD));
  }
}

/** How many jobs wait at which endpoints; null where that is not known. */
const queued = (demands: ReadonlyMap<EndpointId, Demand | null>): Record<string, number | null> =>
  Object.fromEntries([...demands].map(([id, demand]) => [id, demand?.queuedNormal ?? null]));

let clock: ManualClock;
let broker: Broker;
let router: Router;
beforeEach(async () => {
  clock = new ManualClock();
  broker = new Broker();
  router = new Router('one', broker, clock);
  await router.owner.take(SHARD);
});

describe('the demand of an endpoint that is open', () => {
  test('is told when it is committed, and not before', async () => {
    await router.submit(A);
    router.changed();
    broker.isHolding = true;
    const submitted = router.submit(A);
    await letRun();
    expect([router.changed(), router.all()]).toEqual([{}, { a: 1 }]);
    await broker.release();
    expect(await submitted).toBe('settled');
    expect([router.changed(), router.all()]).toEqual([{ a: 2 }, { a: 2 }]);
  });

  test('is told once as a change, however often it has changed, and by a list too', async () => {
    await router.submit(A);
    await router.submit(A);
    await router.submit(B);
    expect(router.changed()).toEqual({ a: 2, b: 1 });
    expect(router.changed()).toEqual({});
    await router.submit(B);
    expect(router.all()).toEqual({ a: 2, b: 2 });
    expect(router.changed()).toEqual({});
  });

  test('is told for so many endpoints at a time as are wanted, and the rest next time', async () => {
    const ids = Array.from({ length: 5 }, (_, at) => `e${at}` as EndpointId);
    for (const id of ids) await router.submit(id);
    const told = [router.changed(2), router.changed(2), router.changed(2), router.changed(2)];
    expect(told.map((each) => Object.keys(each as object).length)).toEqual([2, 2, 1, 0]);
    expect(Object.assign({}, ...(told as object[]))).toEqual(Object.fromEntries(ids.map((id) => [id, 1])));
  });

  test('is shown of every endpoint, told or not', async () => {
    await router.submit(A);
    await router.submit(A);
    await router.take(A);
    router.changed();
    await router.submit(B);
    const shown = (): unknown =>
      [...router.owner.demands].map(([id, { queuedNormal, running }]) => [id, queuedNormal, running]);
    const before = shown();
    expect(before).toHaveLength(2);
    router.all();
    expect(shown()).toEqual(before);
  });

  test('is the jobs that run, too, and for a minute how fast they ended; then it is in no list', async () => {
    await router.submit(A);
    await router.take(A);
    expect(router.owner.takeDemand(SHARD).get(A)).toMatchObject({ queuedNormal: 0, running: 1 });
    await clock.advance(2_000);
    await router.cancel(A, 'one-1');
    const ended = { ...NO_DEMAND, endedLastMinute: 1, executionMsLastMinute: 2_000 };
    expect(router.owner.takeChangedDemand(SHARD, 9).get(A)).toEqual(ended);
    expect(router.owner.takeDemand(SHARD).get(A)).toEqual(ended);
    await clock.advance(MINUTE_MS);
    expect(router.all()).toEqual({});
  });
});

describe('the demand of an endpoint that nobody has open', () => {
  test('is what its index says, for whoever takes the shard', async () => {
    await router.submit(A);
    await router.submit(A);
    const oldestQueuedAtMs = clock.nowMs();
    await clock.advance(5_000);
    const next = new Router('next', broker, clock);
    await next.owner.take(SHARD);
    expect(next.owner.takeDemand(SHARD)).toEqual(new Map([[A, { ...NO_DEMAND, queuedNormal: 2, oldestQueuedAtMs }]]));
  });

  test('is what it was when it was closed, until time changes it', async () => {
    await router.submit(A, 30 * MINUTE_MS);
    await clock.advance(11 * MINUTE_MS);
    await router.owner.tend();
    expect(router.all()).toEqual({ a: 1 });
    await clock.advance(20 * MINUTE_MS);
    router.owner.tick();
    await letRun();
    expect([router.changed(), router.all()]).toEqual([{ a: 0 }, {}]);
  });

  test('is found with the next look at the index where the owner before wrote after this one had looked', async () => {
    const next = new Router('next', broker, clock);
    await next.owner.take(SHARD);
    expect(next.all()).toEqual({});
    await router.submit(A);
    await next.owner.tend();
    expect([next.changed(), next.all()]).toEqual([{ a: 1 }, { a: 1 }]);
  });

  test('is not what an older view of the index shows', async () => {
    await router.submit(A, 30 * MINUTE_MS);
    const past = broker.model.headsNow();
    await clock.advance(11 * MINUTE_MS);
    await router.owner.tend();
    await router.submit(A);
    await clock.advance(11 * MINUTE_MS);
    await router.owner.tend();
    broker.model.headsNow = () => past;
    await router.owner.tend();
    expect(router.all()).toEqual({ a: 2 });
  });
});

describe('a shard', () => {
  test('can be told of when the index has been read, whatever is asked for meanwhile', async () => {
    await router.submit(A);
    const next = new Router('next', broker, clock);
    broker.heldIndex = Promise.withResolvers();
    const taken = next.owner.take(SHARD);
    await next.submit(B);
    expect(next.owner.wholeShards).toEqual([]);
    broker.heldIndex.resolve();
    await taken;
    expect(next.owner.wholeShards).toEqual([SHARD]);
    expect(next.all()).toEqual({ a: 1, b: 1 });
  });

  test('cannot be told of when the index could not be read', async () => {
    const next = new Router('next', broker, clock);
    broker.heldIndex = Promise.withResolvers();
    broker.heldIndex.reject(new PlatformError('service-unavailable', 'no answer'));
    await expect(next.owner.take(SHARD)).rejects.toThrow('no answer');
    expect(next.owner.wholeShards).toEqual([]);
    broker.heldIndex = null;
    await next.owner.take(SHARD);
    expect(next.owner.wholeShards).toEqual([SHARD]);
  });

  test('cannot be told of without trust, and nothing is lost meanwhile', async () => {
    await router.submit(A);
    router.isTrusted = false;
    expect(router.owner.wholeShards).toEqual([]);
    router.isTrusted = true;
    expect(router.owner.wholeShards).toEqual([SHARD]);
    expect(router.changed()).toEqual({ a: 1 });
  });

  test('is forgotten when it is given up, also what ends of it afterwards', async () => {
    await router.submit(A);
    const drained = router.owner.drain(SHARD, new AbortController().signal);
    expect(router.owner.wholeShards).toEqual([]);
    await drained;
    await letRun();
    expect([router.changed(), router.all()]).toEqual([{}, {}]);
  });
});

describe('of an endpoint is not known what demand it has', () => {
  test('whose newest message nobody can read', async () => {
    broker.model.putGarbage(A);
    const next = new Router('next', broker, clock);
    await next.owner.take(SHARD);
    await next.submit(B);
    expect(next.all()).toEqual({ a: null, b: 1 });
    await next.owner.tend();
    expect(next.all()).toEqual({ a: null, b: 1 });
  });

  test('whose log cannot be opened', async () => {
    const after = broker.model.putGarbage(A);
    const index = {
      ...{ waitingNormal: 3, waitingLow: 0, running: 0, runningLow: 0 },
      dueAtMs: clock.nowMs() + HOUR_MS,
    };
    const facts = new TextEncoder().encode('{}');
    const batch = { endpointId: A, after, batchId: 'b', index: { ...index, oldestQueuedAtMs: 1, living: 3 }, facts };
    expect(broker.model.store(batch)).toMatchObject({ kind: 'stored' });
    const next = new Router('next', broker, clock);
    await next.owner.take(SHARD);
    expect(next.all()).toEqual({ a: 3 });
    expect(await next.submit(A)).toBe('refused');
    expect([next.changed(), next.all()]).toEqual([{ a: null }, { a: null }]);
    await next.owner.tend();
    await clock.advance(2 * MINUTE_MS);
    expect(await next.submit(A)).toBe('refused');
    expect(next.all()).toEqual({ a: null });
  });

  test('in which somebody else has written, before it has been read again', async () => {
    await router.submit(A);
    const next = new Router('next', broker, clock);
    await next.owner.take(SHARD);
    await next.submit(A);
    expect(await router.submit(A)).toBe('unsettled');
    await letRun();
    expect([router.changed(), router.all()]).toEqual([{ a: null }, { a: null }]);
    await router.owner.tend();
    expect(router.all()).toEqual({ a: 2 });
  });
});
