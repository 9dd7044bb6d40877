import type { AccountId, EndpointId, HostId, JobId, JobKey, WorkerId } from '../ids.js';
import type { RawJson } from '../json/index.js';
import type { JobState } from './job-state.js';
import type { Payload } from './payload.js';

/** One attempt that is over, as the job's history keeps it. */
export interface AttemptRecord {
  readonly attempt: number;
  readonly hostId: HostId;
  readonly workerId: WorkerId;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** How it ended: a final state, or `lost` when it was queued again. */
  readonly outcome: JobState | 'lost';
  readonly reason: string;
  /** When the worker of an attempt that was cancelled or timed out really let go; null until its host has said so. */
  readonly stoppedAtMs: number | null;
  /** The last lines that its worker wrote, oldest first; empty where nobody is left to tell. */
  readonly logTail: readonly string[];
}

/** The attempt that owns the job now. The token is the fence: only its holder's result counts. */
export interface CurrentAttempt {
  readonly token: string;
  readonly hostId: HostId;
  readonly workerId: WorkerId;
  readonly startedAtMs: number;
  /** The instant at which the execution timeout ends this attempt. */
  readonly deadlineAtMs: number;
}

/** The place of a job in a request that came with an idempotency key. */
export interface JobReservation {
  /** Names the reservation at the job's endpoint. */
  readonly name: string;
  /** 0-based; 0 where the request is one job. */
  readonly item: number;
}

/** A version of a job's record that counts: an end, or a requeue, which is `IN_QUEUE` with a larger attempt. */
export interface Milestone {
  /** The version's. */
  readonly sequence: number;
  readonly state: JobState;
  readonly attempt: number;
}

/**
 * The record of a job: the only truth about it, cumulative, rewritten whole by every transition.
 * All instants are Unix milliseconds on the routers' clock.
 */
export interface Job {
  readonly id: JobId;
  readonly endpointId: EndpointId;
  readonly accountId: AccountId;
  readonly origin: 'run' | 'runsync';
  readonly state: JobState;
  /** Ordinal of the present or next attempt, from 1. It grows with every requeue and never repeats, so it fences. */
  readonly attempt: number;
  /** Attempts lost by a fault of worker, container or host. Bounded by `ATTEMPTS_MAX`. */
  readonly charged: number;
  /** Set exactly while `IN_PROGRESS`, and kept on the ended record so that a repeated result is recognised. */
  readonly current: CurrentAttempt | null;
  readonly createdAtMs: number;
  /** Submission, or the last requeue: `delayTime` counts from here. */
  readonly queuedAtMs: number;
  /** Not to be taken before this instant: the delay between attempts. */
  readonly notBeforeMs: number;
  readonly endedAtMs: number | null;
  /** The TTL's end: the job is gone from then on, in any state. */
  readonly expiresAtMs: number;
  /** How long the result stays readable from the end. */
  readonly retentionMs: number;
  readonly executionTimeoutMs: number;
  readonly lowPriority: boolean;
  readonly input: Payload;
  /** The members of the request that are passed to the worker besides `input`, as the JSON text of an object. */
  readonly extras: RawJson;
  /** Members of the request that must rest encrypted (`s3Config`), as the sealed JSON text of an object; null: none. */
  readonly sealedExtras: string | null;
  readonly webhook: string | null;
  /** The result, or the last progress while `IN_PROGRESS`. */
  readonly output: Payload | null;
  readonly error: string | null;
  /** Stream chunks that the current attempt wrote; known when it has ended. */
  readonly chunks: number;
  /** Attempts that are over, oldest first. */
  readonly history: readonly AttemptRecord[];
  /** Earlier versions that count, oldest first, so that whoever has missed them counts them all the same. */
  readonly milestones: readonly Milestone[];
  /** Null: it came without an idempotency key. */
  readonly reservation: JobReservation | null;
  /** W3C trace context of the submitting request, or null. */
  readonly traceparent: string | null;
  /** Names the write that made this version, so that a writer whose answer was lost can recognise its own work. */
  readonly mutation: string;
}

export const jobKeyOf = (job: Job): JobKey => ({ endpointId: job.endpointId, jobId: job.id });
