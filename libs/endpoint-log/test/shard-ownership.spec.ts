import type { Clock } from '@berth/lifecycle';
import { ManualClock } from '@berth/testing';
import { ModelClaimBucket, ModelShardClaims } from '@berth/testing/log-simulator';
import { afterEach, expect, test } from '@jest/globals';
import { DRAIN_MAX_MS, LOOK_EVERY_MS, type ShardOwnershipOptions } from '../src/claims/ownership-options.js';
import { ShardOwnership } from '../src/claims/shard-ownership.js';
import type { ShardClaims } from '../src/index.js';

const SHARDS = 4;
const LEADER_CHANGE_MS = 7_000;

/** The machine's clock, which a process that is stopped by a signal misses a piece of. */
class SleptClock implements Clock {
  sleptMs = 0;

  constructor(private readonly clock: ManualClock) {}

  nowMs = (): number => this.clock.nowMs() + this.sleptMs;
  monotonicMs = (): number => this.clock.monotonicMs() + this.sleptMs;
  sleep = (ms: number, signal?: AbortSignal): Promise<void> => this.clock.sleep(ms, signal);
  after = (ms: number, act: () => void): (() => void) => this.clock.after(ms, act);
  every = (ms: number, tick: () => void): (() => void) => this.clock.every(ms, tick);
}

/** A router with what it was told, in order. */
class Router {
  readonly told: string[] = [];
  readonly errors: unknown[] = [];
  readonly claims: ModelShardClaims;
  readonly clock: SleptClock;
  readonly ownership: ShardOwnership;

  constructor(
    readonly name: string,
    clock: ManualClock,
    { bucket, ...changes }: { readonly bucket: ModelClaimBucket } & Partial<ShardOwnershipOptions>,
  ) {
    this.clock = new SleptClock(clock);
    this.claims = new ModelShardClaims(clock, bucket);
    this.ownership = new ShardOwnership({
      self: { routerId: name, incarnation: name, reads: 1 },
      shardCount: SHARDS,
      claims: this.claims,
      clock: this.clock,
      atEndOfTurn: (run) => run(),
      drain: (shard) => Promise.resolve(void this.told.push(`drain ${shard}`)),
      provenDead: () => new Set(),
      formatOf: () => 1,
      onError: (_, error) => this.errors.push(error),
      listener: {
        onTaken: (shard, term) => this.told.push(`taken ${shard} in ${term}`),
        onLost: (shard, reason) => this.told.push(`lost ${shard}: ${reason}`),
        onTrustChanged: (shard, isTrusted) => this.told.push(`${isTrusted ? 'trust' : 'no trust'} ${shard}`),
        onDone: () => undefined,
      },
      ...changes,
    });
    this.ownership.start();
    routers.push(this);
  }

  get trusted(): readonly number[] {
    return Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => this.ownership.trusts(shard));
  }

  heard(): readonly string[] {
    return this.told.splice(0);
  }
}

let routers: Router[] = [];
let clock = new ManualClock();
let bucket = new ModelClaimBucket(clock);

afterEach(async () => {
  bucket.findLeader();
  const over = Promise.all(routers.map(({ ownership }) => ownership.handOver()));
  await clock.advance(20_000);
  await over;
  routers = [];
  clock = new ManualClock();
  bucket = new ModelClaimBucket(clock);
});

const start = (name: string, changes: Partial<ShardOwnershipOptions> = {}): Router =>
  new Router(name, clock, { bucket, ...changes });

test('a lone router takes everything, trusts it and keeps it', async () => {
  const router = start('a');
  await clock.advance(500);
  expect(router.trusted).toEqual([0, 1, 2, 3]);
  expect(router.heard().toSorted()).toEqual([
    ...[0, 1, 2, 3].map((shard) => `taken ${shard} in 1`),
    ...[0, 1, 2, 3].map((shard) => `trust ${shard}`),
  ]);
  await clock.advance(60_000);
  expect(router.trusted).toEqual([0, 1, 2, 3]);
  expect(router.heard()).toEqual([]);
  expect(router.ownership.termOf(3)).toBe(1);
});

test('a second router gets its share, each shard drained before it is handed over', async () => {
  const first = start('a');
  await clock.advance(2_000);
  first.heard();
  const second = start('b');
  await clock.advance(10_000);
  expect(first.trusted).toEqual([0, 1]);
  expect(second.trusted).toEqual([2, 3]);
  expect(first.heard()).toEqual([
    'drain 3',
    'no trust 3',
    'lost 3: handed-over',
    'drain 2',
    'no trust 2',
    'lost 2: handed-over',
  ]);
  expect(second.heard()).toEqual(['taken 3 in 2', 'trust 3', 'taken 2 in 2', 'trust 2']);
  await clock.advance(30_000);
  expect([...first.heard(), ...second.heard()]).toEqual([]);
});

test('a router that ends hands over at once, and the other one takes at its next survey', async () => {
  const first = start('a');
  await clock.advance(2_000);
  const second = start('b');
  await clock.advance(10_000);
  const over = first.ownership.handOver();
  await clock.advance(300);
  expect(first.heard().filter((line) => line.endsWith('handed-over'))).toHaveLength(SHARDS);
  await expect(over).resolves.toEqual([]);
  await clock.advance(2_000);
  expect(second.trusted).toEqual([0, 1, 2, 3]);
  expect(bucket.survey().routers.has('a')).toBe(false);
});

test('a drain that does not end is not waited for', async () => {
  const router = start('a', { drain: () => new Promise(() => undefined) });
  await clock.advance(2_000);
  const over = router.ownership.handOver();
  await clock.advance(DRAIN_MAX_MS - 1);
  expect(router.trusted).toEqual([0, 1, 2, 3]);
  await clock.advance(1);
  expect(router.trusted).toEqual([]);
  await expect(over).resolves.toEqual([]);
});

test('what cannot be handed over is told, and the router ends all the same', async () => {
  const router = start('a');
  await clock.advance(2_000);
  bucket.loseLeader();
  const over = router.ownership.handOver();
  await clock.advance(10_000);
  await expect(over).resolves.toEqual([0, 1, 2, 3]);
});

test('a router that has ended writes nothing more, though it could not hand over what it had', async () => {
  const router = start('a');
  await clock.advance(2_000);
  bucket.loseLeader();
  const over = router.ownership.handOver();
  await clock.advance(10_000);
  await over;
  await clock.advance(10_000);
  expect(clock.waiting).toBe(0);
  bucket.findLeader();
  await clock.advance(10_000);
  expect([...bucket.survey().claims.values()].map(({ value }) => value.owner?.incarnation)).toEqual([
    'a',
    'a',
    'a',
    'a',
  ]);
});

test.each([false, true])(
  'a change of the leader moves nothing, where late requests come through: %s',
  async (keepsRequests) => {
    const first = start('a');
    await clock.advance(2_000);
    const second = start('b');
    await clock.advance(10_000);
    for (const { claims } of [first, second]) claims.troubles.keepsRequests = keepsRequests;
    first.heard();
    second.heard();
    bucket.loseLeader();
    await clock.advance(LEADER_CHANGE_MS);
    expect([...first.trusted, ...second.trusted]).toEqual([]);
    bucket.findLeader();
    await clock.advance(20_000);
    expect(first.trusted).toEqual([0, 1]);
    expect(second.trusted).toEqual([2, 3]);
    expect([...first.heard(), ...second.heard()].filter((line) => !line.includes('trust'))).toEqual([]);
  },
);

test('a process that slept trusts nothing at its first instant, and everything after its next renewal', async () => {
  const router = start('a');
  await clock.advance(2_000);
  router.clock.sleptMs += 6_000;
  expect(router.trusted).toEqual([]);
  await clock.advance(500);
  expect(router.trusted).toEqual([0, 1, 2, 3]);
  expect(router.ownership.termOf(0)).toBe(1);
});

test('an owner that is silent is followed, and hears that it has lost', async () => {
  const first = start('a');
  await clock.advance(2_000);
  first.heard();
  first.claims.troubles.requestDelayMs = 30_000;
  const second = start('b');
  await clock.advance(8_000);
  expect(first.trusted).toEqual([]);
  expect(second.trusted).toEqual([0, 1, 2, 3]);
  expect(second.ownership.termOf(0)).toBe(2);
  first.claims.troubles.requestDelayMs = 0;
  await clock.advance(31_000);
  expect(first.heard()).toContain('lost 0: taken-by-other');
});

test('a lost connection ends all trust at once', async () => {
  const router = start('a');
  await clock.advance(2_000);
  router.heard();
  router.ownership.disconnected();
  expect(router.trusted).toEqual([]);
  expect(router.heard()).toEqual([0, 1, 2, 3].map((shard) => `no trust ${shard}`));
  await clock.advance(1_500);
  expect(router.trusted).toEqual([0, 1, 2, 3]);
});

test('renewals that nobody acknowledges are found in surveys', async () => {
  const router = start('a');
  await clock.advance(2_000);
  router.claims.troubles.losesAnswers = true;
  router.claims.survey = () => Promise.resolve(bucket.survey());
  await clock.advance(20_000);
  expect(router.trusted).toEqual([0, 1, 2, 3]);
  expect(router.heard().filter((line) => line.startsWith('lost'))).toEqual([]);
});

test('what has arrived when an answer’s time is over counts, though the process was too busy to read it', async () => {
  const arrived: (() => void)[] = [];
  // Timers that are due run before what has arrived is read.
  const atEndOfTurn = (run: () => void): void => {
    for (const read of arrived.splice(0)) read();
    void clock.sleep(0).then(run);
  };
  const router = start('a', { atEndOfTurn });
  await clock.advance(2_000);
  router.heard();
  const { claims } = router;
  claims.survey = () => Promise.reject(new Error('not now'));
  claims.claim = async (...asked) => {
    const outcome = bucket.claim(...asked);
    await new Promise<void>((read) => arrived.push(read));
    return outcome;
  };
  for (let steps = 0; steps < 40; steps += 1) {
    await clock.advance(250);
    expect(router.trusted).toEqual([0, 1, 2, 3]);
  }
  expect(router.heard()).toEqual([]);
});

test('the shards of a process that is proven dead are taken at once, though it renewed after the last survey', async () => {
  const first = start('a');
  await clock.advance(2_000);
  const dead = new Set<string>();
  const second = start('b', { provenDead: () => dead });
  await clock.advance(10_100);
  first.claims.troubles.requestDelayMs = 100_000;
  for (const [shard, { value, revision }] of bucket.survey().claims) {
    if (value.owner?.incarnation === 'a') bucket.claim(shard, value, revision);
  }
  dead.add('a');
  await clock.advance(3 * LOOK_EVERY_MS);
  expect(second.trusted).toEqual([0, 1, 2, 3]);
});

test('listeners that throw stop nothing', async () => {
  const fail = (): never => {
    throw new Error('a fault');
  };
  const listener = { onTaken: fail, onLost: fail, onTrustChanged: fail, onDone: fail };
  const router = start('a', { listener });
  await clock.advance(10_000);
  expect(router.trusted).toEqual([0, 1, 2, 3]);
  expect(router.errors).toContainEqual(new Error('a fault'));
});

test('only so many claims are written at one time', async () => {
  let now = 0;
  let most = 0;
  const model = new ModelShardClaims(clock, bucket);
  const claims: ShardClaims = {
    survey: () => model.survey(),
    present: (router) => model.present(router),
    leave: (incarnation) => model.leave(incarnation),
    claim: async (...claim) => {
      now += 1;
      most = Math.max(most, now);
      await clock.sleep(10);
      now -= 1;
      return model.claim(...claim);
    },
  };
  const router = start('a', { shardCount: 32, claims });
  await clock.advance(1_000);
  expect(most).toBe(8);
  expect(Array.from({ length: 32 }, (_, shard) => router.ownership.trusts(shard))).not.toContain(false);
});
