import type {
  EndpointId,
  HistoryRow,
  HostId,
  JobDetail,
  JobId,
  JobState,
  JobSummary,
  ToldAttempt,
  WorkerId,
} from '@berth/domain';

/** The columns that a list shows. */
export const SUMMARY_COLUMNS = [
  'job_id',
  'created_at',
  'status',
  'origin',
  'started_at',
  'ended_at',
  'delay_ms',
  'execution_ms',
  'host_id',
  'worker_id',
  'attempts',
  'error',
] as const;

export interface SummaryRow {
  readonly job_id: string;
  readonly created_at: Date;
  readonly status: string;
  readonly origin: string;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
  /** Wider than a number, so the driver gives text. */
  readonly delay_ms: string;
  readonly execution_ms: string;
  readonly host_id: string | null;
  readonly worker_id: string | null;
  readonly attempts: number;
  readonly error: string | null;
}

export interface DetailRow extends SummaryRow {
  readonly attempt_list: readonly ToldAttempt[];
  readonly webhook: string | null;
}

export const summaryOfRow = (row: SummaryRow): JobSummary => ({
  jobId: row.job_id as JobId,
  status: row.status as JobState,
  origin: row.origin as JobSummary['origin'],
  createdAtMs: row.created_at.getTime(),
  startedAtMs: row.started_at?.getTime() ?? null,
  endedAtMs: row.ended_at?.getTime() ?? null,
  delayTimeMs: Number(row.delay_ms),
  executionTimeMs: Number(row.execution_ms),
  hostId: row.host_id as HostId | null,
  workerId: row.worker_id as WorkerId | null,
  attempts: row.attempts,
  error: row.error,
});

export const detailOfRow = (row: DetailRow): JobDetail => ({
  ...summaryOfRow(row),
  attemptList: row.attempt_list,
  webhook: row.webhook,
});

export interface KnownRow extends DetailRow {
  readonly endpoint_id: string;
  readonly attempt: number;
}

export const knownRowOf = (row: KnownRow): HistoryRow => ({
  endpointId: row.endpoint_id as EndpointId,
  job: detailOfRow(row),
  attempt: row.attempt,
});

/** A row as JSON text holds it, by its columns' names, but for whose it is. */
export const givenRow = ({ attempt, endpointId, job }: HistoryRow): object => ({
  endpoint_id: endpointId,
  job_id: job.jobId,
  created_at: instant(job.createdAtMs),
  status: job.status,
  origin: job.origin,
  started_at: job.startedAtMs === null ? null : instant(job.startedAtMs),
  ended_at: job.endedAtMs === null ? null : instant(job.endedAtMs),
  delay_ms: job.delayTimeMs,
  execution_ms: job.executionTimeMs,
  host_id: job.hostId,
  worker_id: job.workerId,
  attempts: job.attempts,
  attempt_list: job.attemptList,
  error: job.error,
  webhook: job.webhook,
  attempt,
});

const instant = (ms: number): string => new Date(ms).toISOString();
