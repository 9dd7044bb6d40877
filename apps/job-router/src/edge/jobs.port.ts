import type { DescribedJob, EndpointSnapshot, FoundJob, ListedJob, ToldDelivery } from '@berth/contracts';
import type {
  EndpointId,
  JobCounts,
  JobId,
  JobKey,
  JobOrigin,
  JobSight,
  JobState,
  PageKey,
  RawJson,
  Slice,
} from '@berth/domain';

/** One job request that has passed every check at the door. Times in ms. */
export interface Submission {
  readonly input: RawJson;
  /** JSON object text of the other members that go to the worker. */
  readonly extras: RawJson;
  /** See `JobBody.sealedExtras`. */
  readonly sealedExtras: string | null;
  readonly webhook: string | null;
  readonly executionTimeoutMs: number;
  readonly ttlMs: number;
  readonly retentionMs: number;
  readonly isLowPriority: boolean;
  readonly traceparent: string | null;
}

/** The name by which a request is the same when it comes again (API decisions 1.6). */
export interface RequestName {
  readonly operation: 'run' | 'runsync' | 'run-batch';
  readonly idempotencyKey: string;
  /** Of the very text of the body. */
  readonly bodyHash: string;
}

/** A request for one job or many. */
export interface JobsRequest {
  readonly endpoint: EndpointSnapshot;
  readonly origin: JobOrigin;
  readonly size: number;
  /** Null: its caller did not name it. */
  readonly name: RequestName | null;
  /** 0-based. The id is needed for what is sealed for this job alone; a request that came before has the ids of then. */
  readonly submissionOf: (item: number, id: JobId) => Submission;
  /**
   * Told the id of the first job before anything of it is written. Told once more where the request had come before: its
   * jobs have the ids of then, and nothing has the first id.
   */
  readonly onFirstId?: (id: JobId) => void;
}

export type ItemOutcome =
  { readonly kind: 'accepted'; readonly id: JobId } | { readonly kind: 'failed'; readonly error: unknown };

export interface JobsAccepted {
  /** In the order of the request's items. */
  readonly outcomes: readonly ItemOutcome[];
  /** The request had come before. */
  readonly isReplayed: boolean;
}

/** The watch of a caller that waits for news of one job. */
export interface JobWatch {
  /** Resolves true when there was news since the watch began or last said so, else false after `timeoutMs` or an abort. */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  dispose(): void;
}

/** `any`: something happened to it, or a chunk came. `end`: it has ended or is gone. */
export type JobNews = 'any' | 'end';

/** `wantsTrace`: the job's trace is to be told as well. */
export interface FindOptions {
  readonly wantsTrace?: boolean;
}

export type JobBrief = Pick<JobSight, 'jobId' | 'state'>;

/** The jobs that a list shall hold. */
export interface JobsQuery {
  /** Below this job; null: from the latest on. */
  readonly before: PageKey | null;
  readonly limit: number;
  readonly statuses: ReadonlySet<JobState>;
  /** Jobs that the asker could tell of from what is kept of ended ones. */
  readonly alsoIds: readonly JobId[];
}

/** A chunk of a stream: the posted body's JSON text. */
export interface StreamChunk {
  readonly index: number;
  readonly body: RawJson;
}

/**
 * The jobs of endpoints, as callers may act on them. The caller has been let to the endpoint before. Each throws
 * PlatformError `service-unavailable` where no owner answered in time.
 */
export abstract class Jobs {
  /**
   * The jobs whose outcome is `accepted` are accepted for good once this resolves.
   *
   * @throws PlatformError `idempotency-key-reused`, `idempotency-in-progress`; what is refused as a whole otherwise
   */
  abstract submit(request: JobsRequest): Promise<JobsAccepted>;
  /** Null: there is no such job, or no longer. */
  abstract find(key: JobKey, options?: FindOptions): Promise<FoundJob | null>;
  /** To be called before the job is made or read, so that nothing in between is missed. */
  abstract watch(key: JobKey, news: JobNews): JobWatch;
  /** The JSON text of the job's output; null: its parts are gone with the job. */
  abstract outputOf(job: JobSight): Promise<RawJson | null>;
  /** Chunks of one attempt from `fromIndex` on, in order and without a gap, at most `limit`. */
  abstract chunks(
    query: JobKey & { readonly attempt: number; readonly fromIndex: number; readonly limit: number },
  ): Promise<readonly StreamChunk[]>;
  /** @throws PlatformError `job-not-found` */
  abstract cancel(key: JobKey): Promise<JobBrief>;
  /** @throws PlatformError `job-not-found`, `job-not-retriable` */
  abstract retry(key: JobKey): Promise<JobBrief>;
  /** @throws PlatformError `job-not-found` */
  abstract replaceLife(key: JobKey, leftMs: number): Promise<void>;
  /** How many waiting jobs were removed. */
  abstract purge(endpointId: EndpointId): Promise<number>;
  abstract counts(endpointId: EndpointId): Promise<JobCounts>;
  /**
   * One entry more than the query's limit, where there are so many. Of `alsoIds` those that are here are listed besides,
   * whatever their status: what is kept of a job may be of an end that it has left again.
   */
  abstract list(endpointId: EndpointId, query: JobsQuery): Promise<Slice<ListedJob>>;
  /** Null: there is no such job, or no longer. */
  abstract describe(key: JobKey): Promise<DescribedJob | null>;
  /** Oldest first. @throws PlatformError `job-not-found` where there is neither the job nor any delivery of it */
  abstract deliveries(key: JobKey): Promise<readonly ToldDelivery[]>;
}
