import { fullBucket, returnToken, takeToken, type Bucket, type BucketLimit, type BucketVerdict } from '@berth/domain';

/** Networks that are remembered. One that was forgotten has a full bucket again; what all may do is bounded elsewhere. */
const NETWORKS_MAX = 10_000;

/** A bucket for each network that has asked lately. */
export class NetworkBuckets {
  readonly #limit: BucketLimit;
  readonly #networksMax: number;
  /** Longest unused first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: BucketLimit, networksMax = NETWORKS_MAX) {
    this.#limit = limit;
    this.#networksMax = networksMax;
  }

  get size(): number {
    return this.#buckets.size;
  }

  take(network: string, nowMs: number): BucketVerdict {
    const verdict = takeToken(this.#buckets.get(network) ?? fullBucket(this.#limit, nowMs), this.#limit, nowMs);
    this.#keep(network, verdict.bucket);
    return verdict;
  }

  giveBack(network: string): void {
    const bucket = this.#buckets.get(network);
    if (bucket !== undefined) this.#keep(network, returnToken(bucket, this.#limit));
  }

  #keep(network: string, bucket: Bucket): void {
    this.#buckets.delete(network);
    this.#buckets.set(network, bucket);
    if (this.#buckets.size <= this.#networksMax) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
