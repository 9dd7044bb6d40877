import type { EndpointId, LogLine, LineSource, WorkerId } from '@berth/domain';

/** Workers that one question may ask for: those of one endpoint on one host. */
export const LOG_CURSORS_MAX = 64;
export const LOG_TAIL_MAX = 5_000;
/** Of the lines in one answer, all workers together; one line more than that may be told. */
export const LOG_ANSWER_BYTES_MAX = 256 * 1_024;
/** How long an agent holds a question that has no lines yet. */
export const LOG_HOLD_MAX_MS = 10_000;
/** More lines than an answer of the largest size has, all workers together; of each, one line more may be told. */
export const LOG_LINES_MAX = 8_192;
/** Endpoints of which a host may ask with one report whether they are still there. */
export const SPOOLED_ENDPOINTS_MAX = 1_024;

export interface LogCursor {
  readonly workerId: WorkerId;
  /** The last line that the reader has, by its sequence; null: it begins, as `tail` and `sinceMs` say. */
  readonly after: number | null;
}

/** Control plane → agent: what these workers of one endpoint have printed, or been said of. */
export interface LogsRequest {
  readonly endpointId: EndpointId;
  readonly cursors: readonly LogCursor[];
  /** For who begins: at most so many of the last lines; absent: all that are kept. */
  readonly tail?: number;
  /** For who begins: none that is older. */
  readonly sinceMs?: number;
  readonly source?: LineSource;
  /** Only lines of this job. */
  readonly jobId?: string;
  /** What the asker has room for. */
  readonly maxBytes: number;
  /** The question is held so long where there is nothing to tell. */
  readonly waitMs: number;
}

/** What is told of one worker. */
export interface WorkerLogPage {
  readonly workerId: WorkerId;
  /** `unknown`: this host keeps nothing of it. `ended`: it is no longer here, and after `next` nothing follows. */
  readonly state: 'unknown' | 'open' | 'ended';
  readonly lines: readonly LogLine[];
  /** Where to go on: the last line that was looked at, told or not. */
  readonly next: number;
  /** Lines behind the cursor that are kept no longer. */
  readonly missing: number;
}

export interface LogsReply {
  /** One of each worker that was asked for. */
  readonly pages: readonly WorkerLogPage[];
}
