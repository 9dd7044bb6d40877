import type { AttemptRef } from '@berth/contracts';
import type { RawJson, WorkerId } from '@berth/domain';
import { loggedTrace, type Step } from '@berth/telemetry';

/**
 * `open`: the worker may still say how it ends. `settled`: its end is known here and the router is being told.
 * `over`: the router has decided without us, or has been told; nothing more is sent.
 */
export type AttemptState = 'open' | 'settled' | 'over';

/** Why a job must stop although its worker has not finished it. */
export type StopReason =
  | 'cancelled' // the router said so: cancelled, or ended by someone else
  | 'timed-out' // its execution timeout is over
  | 'expired' // its TTL is over
  | 'superseded' // a renewal found the lease gone
  | 'overfull' // its worker has used up its share of the host's disk
  | 'untrusted'; // not renewed in time: another host may get the job

/** JSON text in UTF-8 with its hash in lower-case hex: so large that nobody should have to go over it again. */
interface LargeJson {
  readonly utf8: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
}

export type JsonOutput = RawJson | LargeJson;

/** The JSON text of a stream chunk; bytes are UTF-8. */
export type ChunkText = RawJson | Uint8Array;

/** How an attempt ends, in the words of this host. */
export type Ending =
  | { readonly kind: 'completed'; readonly output: JsonOutput | null }
  | { readonly kind: 'failed'; readonly error: string; readonly output: JsonOutput | null }
  | { readonly kind: 'timed-out' }
  | Loss;

/** An attempt that ends without a result. */
export interface Loss {
  readonly kind: 'lost';
  readonly reason: string;
  readonly isCharged: boolean;
  /** The last lines that its worker wrote, oldest first. */
  readonly logTail: readonly string[];
}

/** A worker has an attempt no longer. */
export interface LetGo {
  /** On the monotonic clock. */
  readonly atMs: number;
  /** The last lines that it wrote until then, oldest first. */
  readonly logTail: readonly string[];
}

/** One attempt that this host holds. All instants are of the monotonic clock, in ms. */
export interface Attempt {
  readonly id: string;
  readonly ref: AttemptRef;
  readonly workerId: WorkerId;
  /** W3C trace context of the request that submitted the job, or null. */
  readonly traceparent: string | null;
  readonly executionEndsAtMs: number;
  readonly expiresAtMs: number;
  readonly state: AttemptState;
  /** Set once the job must stop although its worker has not finished it. */
  readonly stop: StopReason | null;
}

/** The attempt as its keeper sees it. */
export class HostAttempt implements Attempt {
  readonly id: string;
  readonly ref: AttemptRef;
  readonly workerId: WorkerId;
  readonly traceparent: string | null;
  readonly executionEndsAtMs: number;
  expiresAtMs: number;
  state: AttemptState = 'open';
  trustedUntilMs: number;
  /** Stream chunks accepted so far: the index of the next. */
  chunks = 0;
  stop: StopReason | null = null;
  /** Null until its worker has really let go of it after a stop. */
  letGo: LetGo | null = null;
  /** In the trace of its job; null: nobody records that. */
  step: Step | null = null;
  /** False until its row is in the journal. */
  isRecorded = false;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(facts: Omit<Attempt, 'id' | 'state' | 'stop'> & { readonly trustedUntilMs: number }) {
    this.id = attemptId(facts.ref);
    this.ref = facts.ref;
    this.workerId = facts.workerId;
    this.traceparent = facts.traceparent;
    this.executionEndsAtMs = facts.executionEndsAtMs;
    this.expiresAtMs = facts.expiresAtMs;
    this.trustedUntilMs = facts.trustedUntilMs;
  }

  /** Runs one change of this attempt at a time, in the order of the calls. */
  serially<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(action);
    this.#queue = result.then(ignore, ignore);
    return result;
  }
}

/** The rejection belongs to the caller of the step; the queue only waits for its end. */
const ignore = (): void => undefined;

export const attemptId = ({ endpointId, jobId, attempt }: AttemptRef): string => `${endpointId}/${jobId}/${attempt}`;

/** Names an attempt in a line of the log, and the trace that it belongs to. */
export const logged = ({ ref, traceparent }: Pick<Attempt, 'ref' | 'traceparent'>) => {
  const { attempt, endpointId, jobId } = ref;
  return { endpointId, jobId, attempt, ...loggedTrace(traceparent) };
};

/** Without what else came with the job. */
export const refOf = ({ endpointId, jobId, attempt, token }: AttemptRef): AttemptRef => ({
  endpointId,
  jobId,
  attempt,
  token,
});
