import type { EndpointId, JobId, Payload, RawJson, WorkerId } from '@berth/domain';

/** Names one attempt and proves that the sender holds it. */
export interface AttemptRef {
  readonly endpointId: EndpointId;
  readonly jobId: JobId;
  readonly attempt: number;
  readonly token: string;
}

/** Held by the router until a job comes or `waitMs` is over. */
export interface TakeRequest {
  readonly endpointId: EndpointId;
  readonly workerId: WorkerId;
  /** Jobs that the worker can start now, 1 to `TAKE_JOBS_MAX`. */
  readonly slots: number;
  /** At most `TAKE_WAIT_MAX_MS`. */
  readonly waitMs: number;
}

export const TAKE_JOBS_MAX = 64;
export const TAKE_WAIT_MAX_MS = 20_000;

export interface TakenJob extends AttemptRef {
  readonly input: Payload;
  /** JSON object text: the request's other members for the worker (`webhook`, `s3Config`, `policy`, unknown ones). */
  readonly extras: RawJson;
  /** Left of the execution timeout and of the TTL, in ms, from the sending of this reply. */
  readonly executionTimeoutMs: number;
  readonly expiresInMs: number;
  readonly delayTimeMs: number;
  /** Attempts before this one that a fault cost. */
  readonly retries: number;
  readonly traceparent: string | null;
}

/**
 * `not-placed`: this worker is not (or not yet, or no longer) assigned to this host, as far as the router knows.
 */
export type TakeReply =
  | { readonly kind: 'jobs'; readonly jobs: readonly TakenJob[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'not-placed' };

/**
 * Ends the takes that are held for one worker, so that they bring no job that would only be given back. A hint: a take
 * that it misses ends by itself, and a job that crosses with it is given back by the agent.
 */
export interface WithdrawMessage {
  readonly endpointId: EndpointId;
  readonly workerId: WorkerId;
}

/** Leases of a host that are due together. */
export interface RenewRequest {
  readonly leases: readonly AttemptRef[];
}

/** So that a renewal stays below about 64 KiB, and costs no router more than a moment. */
export const RENEW_LEASES_MAX = 512;

export interface RenewReply {
  /** In the order of the request. */
  readonly outcomes: readonly ('renewed' | 'lost' | 'unknown')[];
}

export interface ChunkRequest extends AttemptRef {
  /** 0-based within the attempt. */
  readonly index: number;
  /** JSON text of the posted stream body, at most `CHUNK_MAX_BYTES`. */
  readonly body: RawJson;
}

export interface ProgressRequest extends AttemptRef {
  readonly output: Payload;
}

/** One part of an input above the inline limit. */
export interface DownloadRequest extends AttemptRef {
  readonly part: number;
}

export interface DownloadReply {
  /** Null when the parts have expired with their job. */
  readonly base64: string | null;
}

/** One part of an output above the inline limit; all parts go before `done` names their manifest. */
export interface UploadRequest extends AttemptRef {
  readonly part: number;
  readonly base64: string;
}

/** Blob name under which the parts of one attempt's output lie. */
export const outputBlobName = (attempt: number): string => `out${attempt}`;

/**
 * The last lines that a worker wrote, oldest first, without control characters: at most `LOG_TAIL_LINES_MAX` of
 * `LOG_TAIL_CHARACTERS_MAX` each. Absent: nobody could tell.
 */
type LogTail = readonly string[];

export type DoneResult =
  | { readonly kind: 'completed'; readonly output: Payload | null }
  | { readonly kind: 'failed'; readonly error: string; readonly output: Payload | null }
  | { readonly kind: 'timed-out' }
  /** The attempt ended without a result. `isCharged`: false when the worker never started it or was not at fault. */
  | {
      readonly kind: 'lost';
      readonly reason: string;
      readonly isCharged: boolean;
      readonly logTail?: LogTail;
    }
  /**
   * The worker of an attempt that was cancelled or timed out has really let go of it, `agoMs` before this was sent: its
   * handler's task is gone, its result came too late, or its container is gone.
   */
  | { readonly kind: 'stopped'; readonly agoMs: number; readonly logTail?: LogTail };

export interface DoneRequest extends AttemptRef {
  readonly result: DoneResult;
  /** Stream chunks that this attempt sent. */
  readonly chunks: number;
}

/** `superseded`: dropped for good; repeating it is useless. */
export interface ReportReply {
  readonly outcome: 'recorded' | 'superseded';
}

export interface StopMessage {
  readonly jobs: readonly (AttemptRef & { readonly reason: string })[];
}
