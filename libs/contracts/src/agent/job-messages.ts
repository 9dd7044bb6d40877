import type { EndpointId, JobId, Payload, RawJson, WorkerId } from '@berth/domain';
import type { WireError } from '../wire/envelope.js';

/** Names one attempt and proves that the sender holds it. */
export interface AttemptRef {
  readonly endpointId: EndpointId;
  readonly jobId: JobId;
  readonly attempt: number;
  readonly token: string;
}

/** A worker that can start jobs now. */
export interface WorkerWish {
  /** Made by the host, new for each wish: the answer is known by it. */
  readonly takeId: string;
  readonly endpointId: EndpointId;
  readonly workerId: WorkerId;
  /** Jobs that it can start now, 1 to `TAKE_JOBS_MAX`. */
  readonly slots: number;
  /** How long the router holds it until a job comes, at most `ROUTER_TAKE_WAIT_MAX_MS`. */
  readonly waitMs: number;
}

/** The wishes of a host's workers that came up together, at most `TAKE_WISHES_MAX`. */
export interface TakeRequest {
  readonly wishes: readonly WorkerWish[];
}

export const TAKE_WISHES_MAX = 256;
export const TAKE_JOBS_MAX = 64;
export const ROUTER_TAKE_WAIT_MAX_MS = 20_000;
/** Of a job that is read later than this after its wish was sent the host may not start anything: it gives it back. */
export const TAKE_ANSWER_MAX_MS = 20_000;

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

/** What becomes of one wish; each has one answer. */
export type WishAnswer =
  | { readonly takeId: string; readonly kind: 'jobs'; readonly jobs: readonly TakenJob[] }
  /** `not-placed`: its worker is not (or not yet, or no longer) assigned to this host, as far as the router knows. */
  | { readonly takeId: string; readonly kind: 'none' | 'not-placed' }
  /** No router that keeps the jobs of its endpoint has answered. */
  | { readonly takeId: string; readonly kind: 'unanswered' };

/** Comes in parts: the wishes of one request are answered as soon as each can be, and those together that can be at once. */
export interface TakeReply {
  readonly answers: readonly WishAnswer[];
}

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

/** How one attempt ended. */
export interface AttemptEnd extends AttemptRef {
  readonly result: DoneResult;
  /** Stream chunks that this attempt sent. */
  readonly chunks: number;
  /** W3C trace context of the request that submitted the job. */
  readonly traceparent: string | null;
}

/** Ends that a host has to tell together, at most `DONE_ENDS_MAX`. */
export interface DoneRequest {
  readonly ends: readonly AttemptEnd[];
}

export const DONE_ENDS_MAX = 64;

/** Comes in parts, as the reply to a take does. */
export interface DoneReply {
  readonly answers: readonly EndAnswer[];
}

/** What became of the end at that place of the request. */
export type EndAnswer =
  (ReportReply & { readonly place: number }) | { readonly place: number; readonly error: WireError };

/** `superseded`: dropped for good; repeating it is useless. */
export interface ReportReply {
  readonly outcome: 'recorded' | 'superseded';
}

/** A host that waits for an answer of that router waits in vain. */
export interface RouterGoneMessage {
  /** Incarnation of the process: each is told of by every router that has found it gone. */
  readonly router: string;
}

/**
 * A router has requests for workers of this host, or will have, and waits for its tunnel. Said again for as long as there
 * is none; the latest counts.
 */
export interface TunnelOfferMessage {
  /** Incarnation of the process. */
  readonly router: string;
  /** Name or address under which hosts reach it. */
  readonly host: string;
  readonly port: number;
  /** Names the invitation. */
  readonly ticket: string;
  /** Of the invitation: 32 bytes in base64url, which prove both sides to each other. */
  readonly key: string;
}

export interface StopMessage {
  readonly jobs: readonly (AttemptRef & { readonly reason: string })[];
}
