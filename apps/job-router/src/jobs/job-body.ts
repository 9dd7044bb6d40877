import { encodeJson, jobTimes, retriesOf, type Job, type RawJson } from '@berth/domain';
import { objectText } from '../json-text.js';
import type { QueueBody } from '../queue-reasons/queue-reasons.service.js';

/** `{id, status}`: the answer where nothing more is known or asked. */
export const briefBody = (job: Pick<Job, 'id' | 'state'>): RawJson =>
  objectText([
    ['id', encodeJson(job.id)],
    ['status', encodeJson(job.state)],
  ]);

/** What the record itself does not say. */
export interface StatusParts {
  /** JSON text of the result or of the last progress; null when there is none. */
  readonly output: RawJson | null;
  /** Null for a job that does not wait. */
  readonly queue: QueueBody | null;
}

/**
 * The answer of `/status` and of `/runsync`, also of one whose wait is over (wire contract, 2.4): times are integers, `error`
 * is a string, and what does not apply is absent.
 */
export function statusBody(job: Job, { output, queue }: StatusParts, nowMs: number): RawJson {
  const { delayTime, executionTime } = jobTimes(job, nowMs);
  const members: [string, RawJson][] = [
    ['id', encodeJson(job.id)],
    ['status', encodeJson(job.state)],
    ['delayTime', encodeJson(delayTime)],
    ['executionTime', encodeJson(executionTime)],
  ];
  if (output !== null) members.push(['output', output]);
  if (job.error !== null) members.push(['error', encodeJson(job.error)]);
  const retries = retriesOf(job);
  if (retries > 0) members.push(['retries', encodeJson(retries)]);
  if (job.current !== null) members.push(['workerId', encodeJson(job.current.workerId)]);
  if (queue !== null) members.push(['queue', encodeJson(queue)]);
  return objectText(members);
}
