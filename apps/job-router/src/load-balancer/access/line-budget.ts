import { fullBucket, takeToken, type Bucket, type BucketLimit } from '@berth/domain';

/** Of one process, and of one name in it: enough to see what is wrong, and not enough to fill a disk. */
const ALL: BucketLimit = { tokensMax: 200, tokensPerSecond: 20 };
const EACH: BucketLimit = { tokensMax: 20, tokensPerSecond: 2 };
/** Names that are remembered; the longest unused goes first. */
const NAMES_MAX = 1_000;

/** How many lines may be written: no name takes the lines of all others. */
export class LineBudget {
  #all: Bucket = fullBucket(ALL, 0);
  readonly #each = new Map<string, Bucket>();

  /** Whether there is a line for `name`; it is taken then. @param nowMs monotonic */
  take(name: string, nowMs: number): boolean {
    const own = takeToken(this.#each.get(name) ?? fullBucket(EACH, nowMs), EACH, nowMs);
    this.#keep(name, own.bucket);
    if (!own.isAdmitted) return false;
    const all = takeToken(this.#all, ALL, nowMs);
    this.#all = all.bucket;
    return all.isAdmitted;
  }

  #keep(name: string, bucket: Bucket): void {
    this.#each.delete(name);
    this.#each.set(name, bucket);
    const [oldest] = this.#each.keys();
    if (this.#each.size > NAMES_MAX && oldest !== undefined) this.#each.delete(oldest);
  }
}
