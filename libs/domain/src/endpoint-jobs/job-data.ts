import type { HostId, JobId, WorkerId } from '../ids.js';
import type { AttemptRecord, CurrentAttempt, JobOrigin, JobState, Payload } from '../job/index.js';
import type { RawJson } from '../json/index.js';
import type { DeliveryClaim, DeliveryTry } from '../webhook/index.js';

/** The part of a request that a worker gets. It is written once and never changes. */
export interface JobBody {
  readonly input: Payload;
  /** The members of the request that are passed to the worker besides `input`, as the JSON text of an object. */
  readonly extras: RawJson;
  /** Members of the request that must rest encrypted (`s3Config`), as the sealed JSON text of an object; null: none. */
  readonly sealedExtras: string | null;
  /** W3C trace context of the submitting request, or null. */
  readonly traceparent: string | null;
}

/**
 * The holder of a job, and the take that made it the holder. `startedAtMs` is the instant of the take, as callers know
 * it.
 */
interface HolderOfJob extends CurrentAttempt {
  readonly takeId: string;
  /** Its host has renewed it after a while, so a worker is at it: losing it is then a fault. */
  readonly isStarted: boolean;
  /** Of its last progress; null: it has made none. */
  readonly progressedAtMs: number | null;
}

/** The sum of the facts of one job, but for its payloads. It is JSON, and lies in the log as it is when carried. */
export interface JobData {
  readonly jobId: JobId;
  /** Order of acceptance at the endpoint. */
  readonly ordinal: number;
  readonly origin: JobOrigin;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly retentionMs: number;
  readonly executionTimeoutMs: number;
  readonly isLowPriority: boolean;
  readonly webhook: string | null;
  /** Bytes of the body's JSON text, or of the blob where the input is one. */
  readonly bodyBytes: number;
  readonly state: JobState;
  /** See `JobSight.attempt`. */
  readonly attempt: number;
  /** Attempts lost by a fault of worker, container or host. Bounded by `CHARGED_ATTEMPTS_MAX`. */
  readonly charged: number;
  /** Attempts in a row that were lost before they started. */
  readonly unstarted: number;
  /** Order of starting: from the same counter as `ordinal`, anew with every requeue. */
  readonly queuePlace: number;
  readonly queuedAtMs: number;
  readonly notBeforeMs: number;
  readonly endedAtMs: number | null;
  /** Set while `IN_PROGRESS`, and kept at the end, so that a repeated result is recognised. */
  readonly current: HolderOfJob | null;
  readonly error: string | null;
  readonly outputBytes: number;
  readonly chunks: number;
  readonly history: readonly AttemptRecord[];
  /** Names the last retry at a caller's word; null: there was none. */
  readonly retryId: string | null;
}

/** The outcome of a request with an idempotency key. Items are accepted in order, so their number says which. */
export interface KeyData {
  readonly name: string;
  /** Tells two requests apart; a keyed hash, so that nothing can be guessed from it. */
  readonly fingerprint: string;
  /** Id of the first job: those of the others follow from it. */
  readonly firstId: JobId;
  readonly size: number;
  readonly accepted: number;
  readonly createdAtMs: number;
}

/** Telling a webhook of one end of one attempt. */
export interface DeliveryData {
  readonly jobId: JobId;
  readonly attempt: number;
  readonly url: string;
  readonly createdAtMs: number;
  readonly tries: readonly DeliveryTry[];
  readonly nextAtMs: number;
  readonly claim: DeliveryClaim | null;
  readonly outcome: 'delivered' | 'failed' | null;
  readonly endedAtMs: number | null;
  /** The job as it had ended, since it may go or begin anew meanwhile; null once the delivery is over. */
  readonly told: JobData | null;
}

/** The host and the worker that took a job. */
export interface Taking {
  readonly attempt: number;
  readonly token: string;
  readonly hostId: HostId;
  readonly workerId: WorkerId;
  readonly takeId: string;
}

const ITEM_DIGITS = 4;
const HEX = 16;

/** The id of one job of a request with a key: always the same, so that a job that is made again is the same job. */
export const itemJobId = ({ firstId, size }: Pick<KeyData, 'firstId' | 'size'>, item: number): JobId =>
  size === 1 ? firstId : (`${firstId.slice(0, -ITEM_DIGITS)}${item.toString(HEX).padStart(ITEM_DIGITS, '0')}` as JobId);
