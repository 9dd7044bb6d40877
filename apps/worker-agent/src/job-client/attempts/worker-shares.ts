import { MIB, type WorkerId } from '@berth/domain';
import { INLINE_BODY_MAX_BYTES, JournalFullError } from '../../journal/index.js';

/** The share of its host's disk that one worker may fill with things that no router has taken yet. */
export interface WorkerShare {
  /** Bodies with a file of their own. */
  readonly fileBytesMax: number;
  /** Bodies that lie in the log, and so in the memory of the agent. */
  readonly memoryBytesMax: number;
}

/**
 * An eighth of the memory and a sixteenth of the disk that the journal has. A server of language models writes some
 * 1,300 chunks of 400 bytes a second, records included: so much lasts longer than its jobs are trusted without a router.
 */
export const DEFAULT_WORKER_SHARE: WorkerShare = { memoryBytesMax: 16 * 2 ** 20, fileBytesMax: 256 * 2 ** 20 };

export interface Body {
  readonly key: string;
  readonly bytes: number;
  /** A record's own text, which is always in the memory of the agent. */
  readonly isRow?: boolean;
}

type Place = 'file' | 'memory';

interface Claim {
  readonly workerId: WorkerId;
  readonly place: Place;
  readonly bytes: number;
}

/** A record in the log and in memory costs more than its body. */
const RECORD_BYTES = 256;
/** Above this part of either share no new job is taken. */
const ROOM_SHARE = 0.8;

/** A worker has used up what is its own; others have what is theirs. `message` may be shown to the job's owner. */
export class ShareExceededError extends JournalFullError {
  constructor(maxBytes: number) {
    super(
      `the worker gave results and stream chunks faster than its host could pass them on: more than its share of ${Math.round(maxBytes / MIB)} MiB waited there`,
    );
    this.name = 'ShareExceededError';
  }
}

/** How much of the journal's room each worker's results and chunks take, so that no worker takes what the others need. */
export class WorkerShares {
  readonly #share: WorkerShare;
  readonly #claims = new Map<string, Claim>();
  readonly #usedBytes = new Map<string, number>();

  constructor(share: WorkerShare) {
    this.#share = share;
  }

  /** All of them or none. @throws ShareExceededError */
  claim(workerId: WorkerId, bodies: readonly Body[]): void {
    const claims = bodies.map((body) => ({ key: body.key, claim: claimOf(workerId, body) }));
    for (const place of ['file', 'memory'] as const) {
      const wanted = claims.reduce((sum, { claim }) => sum + (claim.place === place ? claim.bytes : 0), 0);
      const maxBytes = place === 'file' ? this.#share.fileBytesMax : this.#share.memoryBytesMax;
      if (wanted > 0 && this.#used(workerId, place) + wanted > maxBytes) throw new ShareExceededError(maxBytes);
    }
    for (const { claim, key } of claims) this.#add(key, claim);
  }

  /** False when it should be given no new job: the rest of its share is for the results of those that run. */
  hasRoom(workerId: WorkerId): boolean {
    const { fileBytesMax, memoryBytesMax } = this.#share;
    const isFull = (place: Place, maxBytes: number): boolean => this.#used(workerId, place) >= maxBytes * ROOM_SHARE;
    return !isFull('file', fileBytesMax) && !isFull('memory', memoryBytesMax);
  }

  /**
   * Counts a body that is written whatever the share is: by an earlier life of the agent, or of the agent's own accord.
   */
  adopt(workerId: WorkerId, body: Body): void {
    this.#add(body.key, claimOf(workerId, body));
  }

  /** Absent is success. */
  release(keys: readonly string[]): void {
    for (const key of keys) {
      const claim = this.#claims.get(key);
      if (claim === undefined) continue;
      this.#claims.delete(key);
      const left = this.#used(claim.workerId, claim.place) - claim.bytes;
      if (left === 0) this.#usedBytes.delete(usedKey(claim.workerId, claim.place));
      else this.#usedBytes.set(usedKey(claim.workerId, claim.place), left);
    }
  }

  #add(key: string, claim: Claim): void {
    this.release([key]);
    this.#claims.set(key, claim);
    this.#usedBytes.set(usedKey(claim.workerId, claim.place), this.#used(claim.workerId, claim.place) + claim.bytes);
  }

  #used(workerId: WorkerId, place: Place): number {
    return this.#usedBytes.get(usedKey(workerId, place)) ?? 0;
  }
}

const usedKey = (workerId: WorkerId, place: Place): string => `${place} ${workerId}`;

const claimOf = (workerId: WorkerId, { bytes, isRow = false }: Body): Claim =>
  !isRow && bytes > INLINE_BODY_MAX_BYTES
    ? { workerId, place: 'file', bytes }
    : { workerId, place: 'memory', bytes: bytes + RECORD_BYTES };
