import type { AccountId, AccountLimits, EndpointId, JobKey } from '@berth/domain';

export interface HeldChunk {
  /** Its place in the attempt's stream: it comes again where its answer was lost, and counts once. */
  readonly index: number;
  readonly bytes: number;
}

export interface StreamingAttempt extends JobKey {
  readonly attempt: number;
  readonly accountId: AccountId;
}

type ChunkLimits = Pick<AccountLimits, 'chunkBytes' | 'chunkBytesPerAttempt'>;

interface Streamed {
  readonly attempt: number;
  readonly accountId: AccountId;
  readonly endpointId: EndpointId;
  bytes: number;
  /** The highest index that was counted, and which of those before it: bit n is the nth before it. */
  newest: number;
  recent: number;
}

/** Jobs that are counted; of one that is forgotten for others everything is allowed once more. */
const JOBS_MAX = 100_000;
/** Several times what a host sends side by side. One that comes again later than that counts again. */
const RECENT_BITS = 32;

/**
 * How much is streamed and lies there still: by the present attempt of each job, and by all jobs of an account. As far as
 * this owner was asked: whoever owns the endpoint next begins to count anew.
 */
export class ChunkQuotas {
  /** By name, the job that streamed last at the end. */
  readonly #streamed = new Map<string, Streamed>();
  readonly #accounts = new Map<AccountId, number>();

  get size(): number {
    return this.#streamed.size;
  }

  bytesOf(accountId: AccountId): number {
    return this.#accounts.get(accountId) ?? 0;
  }

  /** The limit that would be exceeded, in which case nothing is counted; null: it is within both. */
  add(attempt: StreamingAttempt, { bytes, index }: HeldChunk, limits: ChunkLimits): keyof ChunkLimits | null {
    const name = nameOf(attempt);
    const streamed = this.#startedAt(name, attempt);
    if (isCounted(streamed, index)) return null;
    if (streamed.bytes + bytes > limits.chunkBytesPerAttempt) return 'chunkBytesPerAttempt';
    if (this.bytesOf(attempt.accountId) + bytes > limits.chunkBytes) return 'chunkBytes';
    note(streamed, index);
    streamed.bytes += bytes;
    this.#count(streamed.accountId, bytes);
    this.#streamed.delete(name);
    this.#streamed.set(name, streamed);
    const [oldest] = this.#streamed.keys();
    if (this.#streamed.size > JOBS_MAX && oldest !== undefined) this.#drop(oldest);
    return null;
  }

  /** Nothing lies there any more of what the job has streamed. */
  forget(key: JobKey): void {
    this.#drop(nameOf(key));
  }

  /** Another router owns these endpoints, and counts. */
  leave(isLost: (endpointId: EndpointId) => boolean): void {
    for (const [name, { endpointId }] of this.#streamed) if (isLost(endpointId)) this.#drop(name);
  }

  /** What an attempt before this one has streamed is removed. */
  #startedAt(name: string, { accountId, attempt, endpointId }: StreamingAttempt): Streamed {
    const known = this.#streamed.get(name);
    if (known?.attempt === attempt) return known;
    this.#drop(name);
    return { attempt, accountId, endpointId, bytes: 0, newest: -1, recent: 0 };
  }

  #drop(name: string): void {
    const streamed = this.#streamed.get(name);
    if (streamed === undefined) return;
    this.#streamed.delete(name);
    this.#count(streamed.accountId, -streamed.bytes);
  }

  #count(accountId: AccountId, bytes: number): void {
    const sum = this.bytesOf(accountId) + bytes;
    if (sum === 0) this.#accounts.delete(accountId);
    else this.#accounts.set(accountId, sum);
  }
}

function isCounted({ newest, recent }: Streamed, index: number): boolean {
  const before = newest - index;
  return before >= 0 && before < RECENT_BITS && (recent & (1 << before)) !== 0;
}

function note(streamed: Streamed, index: number): void {
  const ahead = index - streamed.newest;
  if (ahead > 0) {
    streamed.recent = (ahead < RECENT_BITS ? streamed.recent << ahead : 0) | 1;
    streamed.newest = index;
  } else if (-ahead < RECENT_BITS) {
    streamed.recent |= 1 << -ahead;
  }
}

const nameOf = ({ endpointId, jobId }: JobKey): string => `${endpointId}/${jobId}`;
