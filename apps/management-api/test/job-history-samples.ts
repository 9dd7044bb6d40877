import {
  describeJob,
  type AttemptRecord,
  type EndpointId,
  type HistoryRow,
  type HostId,
  type JobId,
  type ToldJob,
  type WorkerId,
} from '@berth/domain';

export const ENDPOINT = 'e1' as EndpointId;

export interface SampleRow extends Partial<ToldJob> {
  readonly endpointId?: EndpointId;
}

/** The row of a job that ended after 1.2 s; its id tells it from others. */
export function endedRow(id: string, createdAtMs: number, more: SampleRow = {}): HistoryRow {
  const startedAtMs = createdAtMs + 40;
  const endedAtMs = createdAtMs + 1_240;
  const { attempt = 1, state = 'COMPLETED' } = more;
  const place = { hostId: 'h1' as HostId, workerId: 'w1' as WorkerId, startedAtMs };
  const over = { outcome: state, reason: state, stoppedAtMs: null, logTail: ['bye'] };
  const last: AttemptRecord = { attempt, ...place, endedAtMs, ...over };
  const end = { endedAtMs, error: state === 'FAILED' ? 'it broke' : null };
  return rowOf(id, createdAtMs, { state, current: place, history: [last], ...end, ...more });
}

/** The row of a job that was tried and waits again. */
export const waitingRow = (id: string, createdAtMs: number, more: SampleRow = {}): HistoryRow =>
  rowOf(id, createdAtMs, { state: 'IN_QUEUE', attempt: 2, ...more });

function rowOf(id: string, createdAtMs: number, { endpointId = ENDPOINT, ...more }: SampleRow): HistoryRow {
  const job: ToldJob = {
    jobId: id as JobId,
    ...{ state: 'IN_QUEUE', origin: 'run', createdAtMs, queuedAtMs: createdAtMs, endedAtMs: null },
    ...{ attempt: 1, current: null, history: [], error: null, webhook: null },
    ...more,
  };
  // Nothing that is told of an ended job depends on the present.
  return { endpointId, job: describeJob(job, job.endedAtMs ?? job.queuedAtMs), attempt: job.attempt };
}
