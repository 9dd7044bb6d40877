import { PlatformError, fullBucket, returnToken, takeToken, type Bucket, type BucketLimit } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { NetworkBuckets } from './network-buckets.js';

export interface StrangerLimits {
  /** Requests of one network without a good key. */
  readonly asks: BucketLimit;
  /** The same at what is open to everybody. */
  readonly publicAsks: BucketLimit;
  /** Keys of one network that nobody here knows, and that are looked up where they are kept. */
  readonly lookups: BucketLimit;
  /** The same of all networks together. */
  readonly allLookups: BucketLimit;
}

/** More than any client asks that has its key wrong, and little beside what callers with keys ask. */
const STRANGER_LIMITS: StrangerLimits = {
  asks: { tokensMax: 1_000, tokensPerSecond: 50 },
  publicAsks: { tokensMax: 1_000, tokensPerSecond: 50 },
  lookups: { tokensMax: 200, tokensPerSecond: 20 },
  allLookups: { tokensMax: 500, tokensPerSecond: 100 },
};

/** The limits of callers that have not shown a good key. Others are never counted here, wherever they ask from. */
export class Strangers {
  readonly #clock: Clock;
  readonly #limits: StrangerLimits;
  readonly #asks: NetworkBuckets;
  readonly #publicAsks: NetworkBuckets;
  readonly #lookups: NetworkBuckets;
  #allLookups: Bucket;

  constructor(clock: Clock, limits: StrangerLimits = STRANGER_LIMITS) {
    this.#clock = clock;
    this.#limits = limits;
    this.#asks = new NetworkBuckets(limits.asks);
    this.#publicAsks = new NetworkBuckets(limits.publicAsks);
    this.#lookups = new NetworkBuckets(limits.lookups);
    this.#allLookups = fullBucket(limits.allLookups, clock.monotonicMs());
  }

  /** @throws PlatformError `rate-limited` */
  admitAsk(network: string): void {
    this.#admit(this.#asks, network);
  }

  /** Counted apart: a reader of many documents may still show a key. @throws PlatformError `rate-limited` */
  admitPublicAsk(network: string): void {
    this.#admit(this.#publicAsks, network);
  }

  /** @throws PlatformError `rate-limited` */
  admitLookup(network: string): void {
    const nowMs = this.#clock.monotonicMs();
    const own = this.#lookups.take(network, nowMs);
    if (!own.isAdmitted) throw tooMany('rate limit exceeded for unknown keys', own.retryAfterSeconds);
    const all = takeToken(this.#allLookups, this.#limits.allLookups, nowMs);
    this.#allLookups = all.bucket;
    if (all.isAdmitted) return;
    this.#lookups.giveBack(network);
    throw tooMany('rate limit exceeded for unknown keys of all callers', all.retryAfterSeconds);
  }

  /** The caller has shown a good key after all: nobody is the worse for having had it looked up. */
  forgive(network: string): void {
    this.#asks.giveBack(network);
    this.#lookups.giveBack(network);
    this.#allLookups = returnToken(this.#allLookups, this.#limits.allLookups);
  }

  #admit(buckets: NetworkBuckets, network: string): void {
    const { isAdmitted, retryAfterSeconds } = buckets.take(network, this.#clock.monotonicMs());
    if (!isAdmitted) throw tooMany('rate limit exceeded for requests without a good key', retryAfterSeconds);
  }
}

const tooMany = (detail: string, retryAfterSeconds: number): PlatformError =>
  new PlatformError('rate-limited', detail, { retryAfterSeconds });
