import type { FoundJob } from '@berth/contracts';
import { encodeJson, type JobCounts, type JobSight, type RawJson } from '@berth/domain';
import { isRecorded, parseTraceparent, type Traces } from '@berth/telemetry';
import type { AssignedCounts } from '../directory/index.js';
import type { JobBrief } from '../edge/index.js';
import { objectText } from '../platform/index.js';
import type { QueueBody } from '../queue-reasons/index.js';

/** `{id, status}`: the answer where nothing more is known or asked. */
export const briefBody = (job: JobBrief): RawJson =>
  objectText([
    ['id', encodeJson(job.jobId)],
    ['status', encodeJson(job.state)],
  ]);

/** Where to look for what happened to a job. */
export interface DebugBody {
  readonly traceId: string;
  readonly isRecorded: boolean;
}

/**
 * The trace of a job, and whether this installation records it: as it was decided when the job came, or because the job
 * has failed. Null: it was not asked for, or its owner does not tell it.
 */
export function debugBody(
  { state, traceparent }: Pick<FoundJob, 'state' | 'traceparent'>,
  { isOn }: Pick<Traces, 'isOn'>,
): DebugBody | null {
  const trace = parseTraceparent(traceparent ?? undefined);
  if (trace === null) return null;
  const hasFailed = state === 'FAILED' || state === 'TIMED_OUT';
  return { traceId: trace.traceId, isRecorded: isOn && (hasFailed || isRecorded(traceparent)) };
}

/** The parts that the sight of the job itself does not have. */
export interface StatusParts {
  /** JSON text of the result or of the last progress; null when there is none. */
  readonly output: RawJson | null;
  /** Null for a job that does not wait. */
  readonly queue: QueueBody | null;
  /** Null: its caller did not ask for it. */
  readonly debug: DebugBody | null;
}

/**
 * The answer of `/status` and of `/runsync`, also of one whose wait is over (wire contract 2.4): times are integers, `error`
 * is a string, and what does not apply is absent.
 */
export function statusBody(job: JobSight, { debug, output, queue }: StatusParts): RawJson {
  const members: [string, RawJson][] = [
    ['id', encodeJson(job.jobId)],
    ['status', encodeJson(job.state)],
    ['delayTime', encodeJson(job.delayTimeMs)],
    ['executionTime', encodeJson(job.executionTimeMs)],
  ];
  if (output !== null) members.push(['output', output]);
  if (job.error !== null) members.push(['error', encodeJson(job.error)]);
  if (job.retries > 0) members.push(['retries', encodeJson(job.retries)]);
  if (job.workerId !== null) members.push(['workerId', encodeJson(job.workerId)]);
  if (queue !== null) members.push(['queue', encodeJson(queue)]);
  if (debug !== null) members.push(['debug', encodeJson(debug)]);
  return objectText(members);
}

/** The answer of `/health`. */
export const healthBody = (
  { completed, failed, inProgress, inQueue, retried }: JobCounts,
  workers: AssignedCounts,
): RawJson => encodeJson({ jobs: { completed, failed, inProgress, inQueue, retried }, workers });
