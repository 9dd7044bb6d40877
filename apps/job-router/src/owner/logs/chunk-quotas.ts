import type { ChunkLimitName } from '@berth/contracts';
import type { AccountId, AccountLimits, EndpointId, JobId, JobKey } from '@berth/domain';

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

/** The room that is left where the chunks of a job lie, in bytes, and the room that is about to be taken there. */
export interface ChunkRooms {
  freeBytesOf(jobId: JobId): number;
  bring(jobId: JobId, bytes: number): void;
}

export interface ChunkQuotasOptions {
  readonly rooms: ChunkRooms;
  /** Jobs of one shard have their chunks in one room. */
  readonly shardOf: (jobId: JobId) => number;
}

export interface FullQuota {
  readonly limit: ChunkLimitName;
  readonly maxBytes: number;
}

interface Streamed {
  readonly attempt: number;
  /** The account's name, and that of its part of the room where the job's chunks lie: counted under both. */
  readonly counts: readonly [account: string, room: string];
  readonly endpointId: EndpointId;
  bytes: number;
  /** The highest index that was counted, and which of those before it: bit n is the nth before it. */
  newest: number;
  recent: number;
}

/** Jobs that are counted; of one that is forgotten for others everything is allowed once more. */
const JOBS_MAX = 100_000;
/**
 * Of what an account has in a room and what is left there. By the default storage that is more than one attempt may stream, in
 * an empty room, and however many accounts stream there, a third of what they found is left (ADR 0043).
 */
const ROOM_SHARE = 2 / 3;
/** Several times what a host sends side by side. One that comes again later than that counts again. */
const RECENT_BITS = 32;

/**
 * How much is streamed and lies there still: by the present attempt of each job, by all jobs of an account, and by those of
 * them whose chunks lie in one room. As far as this owner was asked: the next owner of the endpoint begins to count anew.
 */
export class ChunkQuotas {
  /** By name, the job that streamed last at the end. */
  readonly #streamed = new Map<string, Streamed>();
  readonly #counts = new Map<string, number>();
  readonly #options: ChunkQuotasOptions;

  constructor(options: ChunkQuotasOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#streamed.size;
  }

  bytesOf(accountId: AccountId): number {
    return this.#counts.get(accountId) ?? 0;
  }

  /** The limit that would be exceeded, in which case nothing is counted; null: it is within all. */
  add(attempt: StreamingAttempt, { bytes, index }: HeldChunk, limits: ChunkLimits): FullQuota | null {
    const name = nameOf(attempt);
    const streamed = this.#startedAt(name, attempt);
    if (isCounted(streamed, index)) return null;
    const full = this.#quotasOf(streamed, attempt, limits).find(({ held, maxBytes }) => held + bytes > maxBytes);
    if (full !== undefined) return { limit: full.limit, maxBytes: full.maxBytes };
    note(streamed, index);
    streamed.bytes += bytes;
    this.#count(streamed, bytes);
    this.#options.rooms.bring(attempt.jobId, bytes);
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

  /** However many jobs an account streams at once, and however many accounts do, there is room for one more. */
  #quotasOf({ bytes, counts }: Streamed, { accountId, jobId }: StreamingAttempt, limits: ChunkLimits) {
    const held = this.#counts.get(counts[1]) ?? 0;
    const maxBytes = Math.floor((held + this.#options.rooms.freeBytesOf(jobId)) * ROOM_SHARE);
    return [
      { limit: 'chunkBytesPerAttempt', held: bytes, maxBytes: limits.chunkBytesPerAttempt },
      { limit: 'chunkBytes', held: this.bytesOf(accountId), maxBytes: limits.chunkBytes },
      { limit: 'chunkRoom', held, maxBytes },
    ] as const;
  }

  /** The chunks of an attempt before this one are removed. */
  #startedAt(name: string, { accountId, attempt, endpointId, jobId }: StreamingAttempt): Streamed {
    const known = this.#streamed.get(name);
    if (known?.attempt === attempt) return known;
    this.#drop(name);
    const counts = [accountId, `${accountId}/${this.#options.shardOf(jobId)}`] as const;
    return { attempt, counts, endpointId, bytes: 0, newest: -1, recent: 0 };
  }

  #drop(name: string): void {
    const streamed = this.#streamed.get(name);
    if (streamed === undefined) return;
    this.#streamed.delete(name);
    this.#count(streamed, -streamed.bytes);
  }

  #count({ counts }: Streamed, bytes: number): void {
    for (const name of counts) {
      const sum = (this.#counts.get(name) ?? 0) + bytes;
      if (sum === 0) this.#counts.delete(name);
      else this.#counts.set(name, sum);
    }
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
