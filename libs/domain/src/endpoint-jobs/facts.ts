import type { HostId, JobId, WorkerId } from '../ids.js';
import type { JobState, Payload } from '../job/index.js';
import type { DeliveryTry } from '../webhook/index.js';
import type { DeliveryData, JobBody, JobData, KeyData, Taking } from './job-data.js';
import type { PaceSecond } from './structures/completion-window.js';

/**
 * A thing that happened, at an instant of the owner's clock that never goes back. Facts are JSON, one to a line of the
 * log.
 */
interface Happened<Kind extends string> {
  readonly kind: Kind;
  readonly atMs: number;
}

interface OfJob<Kind extends string> extends Happened<Kind> {
  readonly jobId: JobId;
}

interface OfAttempt<Kind extends string> extends OfJob<Kind> {
  readonly attempt: number;
}

/** The place of a job in a request that came with an idempotency key. */
export interface KeyUse extends Pick<KeyData, 'name' | 'fingerprint' | 'firstId' | 'size'> {
  readonly item: number;
}

/** A job as it was accepted. */
export interface AcceptedJob extends Pick<
  JobData,
  | 'jobId'
  | 'ordinal'
  | 'origin'
  | 'expiresAtMs'
  | 'retentionMs'
  | 'executionTimeoutMs'
  | 'isLowPriority'
  | 'webhook'
  | 'bodyBytes'
> {
  readonly body: JobBody;
  readonly key: KeyUse | null;
}

/**
 * The part of the end of a job that the job history needs, or of an attempt, so that it need not have read the job's
 * other facts.
 */
export interface EndSummary extends Pick<JobData, 'origin' | 'createdAtMs' | 'queuedAtMs' | 'attempt'> {
  /** With host and worker, or all three null: no attempt was under way. */
  readonly startedAtMs: number | null;
  readonly hostId: HostId | null;
  readonly workerId: WorkerId | null;
  /** Scheme and host of where the end is told: the rest of the address may be a secret. */
  readonly webhook: string | null;
}

/** Where a job that waits again stands. */
export type Requeueing = Pick<JobData, 'queuePlace' | 'notBeforeMs'>;

export type SubmittedFact = Happened<'submitted'> & { readonly job: AcceptedJob };
/** Accepted and taken at once, since a worker waited. */
export type BornTakenFact = Happened<'born-taken'> & { readonly job: AcceptedJob; readonly taking: Taking };
export type TakenFact = OfJob<'taken'> & { readonly taking: Taking };
export type StartedFact = OfAttempt<'started'>;
export type ProgressedFact = OfAttempt<'progressed'> & { readonly output: Payload; readonly outputBytes: number };
export type FinishedFact = OfAttempt<'finished'> & {
  readonly token: string;
  readonly state: Extract<JobState, 'COMPLETED' | 'FAILED' | 'TIMED_OUT'>;
  readonly error: string | null;
  readonly output: Payload | null;
  readonly outputBytes: number;
  readonly chunks: number;
  readonly logTail: readonly string[];
  readonly summary: EndSummary;
};
/** `next` is where the job waits again; null: this was the last attempt, and `error` says so. */
export type LostFact = OfAttempt<'lost'> & {
  readonly reason: string;
  /** Both as they are from now on. */
  readonly charged: number;
  readonly unstarted: number;
  readonly logTail: readonly string[];
  readonly next: Requeueing | null;
  readonly error: string | null;
  readonly summary: EndSummary;
};
export type CancelledFact = OfJob<'cancelled'> & { readonly summary: EndSummary };
/** By the owner, behind a host that did not say so itself. */
export type TimedOutFact = OfAttempt<'timed-out'> & { readonly error: string; readonly summary: EndSummary };
/** The host's word that the worker of a stopped attempt has let go of it. The job history finds the job by its submission. */
export type LetGoFact = OfAttempt<'let-go'> &
  Pick<JobData, 'createdAtMs'> & { readonly stoppedAtMs: number; readonly logTail: readonly string[] };
/** `attempt` is the new one. The job history finds the job by its submission. */
export type RetriedFact = OfAttempt<'retried'> &
  Pick<JobData, 'createdAtMs'> & { readonly retryId: string; readonly next: Requeueing };
export type LifeChangedFact = OfJob<'life-changed'> & Pick<JobData, 'expiresAtMs' | 'retentionMs'>;

/** A rule: every job goes that waits at these places of its priority, or before them. `count` is how many those are. */
export type PurgedFact = Happened<'purged'> & {
  readonly purgeId: string;
  readonly through: { readonly normal: number; readonly low: number };
  readonly count: number;
  /** The last place that the purge may remove: jobs queued behind it came later. */
  readonly until: number;
  readonly isLast: boolean;
};
/** A rule: every job goes whose life ended at this instant, or before; of that very instant up to this ordinal. */
export type ExpiredFact = Happened<'expired'> & {
  readonly before: { readonly atMs: number; readonly ordinal: number };
  readonly count: number;
};

/** A try begins: it counts from here on, whatever becomes of its sender. */
export type DeliveryTriedFact = OfAttempt<'delivery-tried'> & { readonly token: string; readonly untilMs: number };
/** A try is over; so is the delivery where there is an outcome. */
export type DeliveryEndedFact = OfAttempt<'delivery-ended'> & {
  readonly token: string;
  readonly result: Pick<DeliveryTry, 'statusCode' | 'error'>;
  readonly outcome: DeliveryData['outcome'];
  readonly nextAtMs: number;
};

/** Written whole once more, so that its older facts may go from the log. */
export type CarriedFact = Happened<'carried'> &
  (
    | { readonly what: 'job'; readonly job: JobData; readonly body: JobBody; readonly output: Payload | null }
    | { readonly what: 'key'; readonly key: KeyData }
    | {
        readonly what: 'delivery';
        readonly delivery: DeliveryData;
        readonly body: JobBody | null;
        readonly output: Payload | null;
      }
  );

/** Ends and requeues of an endpoint since its creation. */
export interface EndpointCounters {
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly timedOut: number;
  readonly retried: number;
}

/** An endpoint's last purge: it may come in slices, and be asked about again. */
export interface PurgeData {
  readonly purgeId: string;
  readonly removed: number;
  readonly until: number;
  readonly isDone: boolean;
}

/** The totals of the log beside its jobs. All that lies at `covers` or before has been carried, or is dead. */
export type TotalsFact = Happened<'totals'> & {
  readonly covers: number;
  readonly counters: EndpointCounters;
  readonly life: {
    readonly term: number;
    readonly nextOrdinal: number;
    readonly lastPurge: PurgeData | null;
    readonly pace: readonly PaceSecond[];
  };
};

/** A new owner begins. */
export type OpenedFact = Happened<'opened'> & {
  readonly term: number;
  readonly routerId: string;
};
/** All that is left of an endpoint. An owner that opens it once more says it again, so that everything before may go. */
export type EndpointDeletedFact = Happened<'endpoint-deleted'> & { readonly term: number };

export type JobFact =
  | SubmittedFact
  | BornTakenFact
  | TakenFact
  | StartedFact
  | ProgressedFact
  | FinishedFact
  | LostFact
  | CancelledFact
  | TimedOutFact
  | LetGoFact
  | RetriedFact
  | LifeChangedFact;

export type DeliveryFact = DeliveryTriedFact | DeliveryEndedFact;

type EndpointFact = PurgedFact | ExpiredFact | TotalsFact | OpenedFact | EndpointDeletedFact;

export type LogFact = JobFact | DeliveryFact | EndpointFact | CarriedFact;
export type LogFactKind = LogFact['kind'];
