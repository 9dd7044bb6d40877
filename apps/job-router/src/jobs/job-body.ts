import { encodeJson, type JobCounts, type JobSight, type RawJson } from '@berth/domain';
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

/** The parts that the sight of the job itself does not have. */
export interface StatusParts {
  /** JSON text of the result or of the last progress; null when there is none. */
  readonly output: RawJson | null;
  /** Null for a job that does not wait. */
  readonly queue: QueueBody | null;
}

/**
 * The answer of `/status` and of `/runsync`, also of one whose wait is over (wire contract 2.4): times are integers, `error`
 * is a string, and what does not apply is absent.
 */
export function statusBody(job: JobSight, { output, queue }: StatusParts): RawJson {
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
  return objectText(members);
}

/** The answer of `/health`. */
export const healthBody = (
  { completed, failed, inProgress, inQueue, retried }: JobCounts,
  workers: AssignedCounts,
): RawJson => encodeJson({ jobs: { completed, failed, inProgress, inQueue, retried }, workers });
