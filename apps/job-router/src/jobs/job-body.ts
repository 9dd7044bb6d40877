import { encodeJson, jobTimes, retriesOf, type Job, type RawJson } from '@berth/domain';
import { objectText } from '../json-text.js';

/** `{id, status}`: the answer where nothing more is known or asked. */
export const briefBody = (job: Pick<Job, 'id' | 'state'>): RawJson =>
  objectText([
    ['id', encodeJson(job.id)],
    ['status', encodeJson(job.state)],
  ]);

/**
 * The answer of `/status`, and of `/runsync` once the job has ended (wire contract, 2.4): times are integers, `error`
 * is a string, and what does not apply is absent.
 *
 * @param output JSON text of the result or of the last progress; null when there is none
 */
export function statusBody(job: Job, output: RawJson | null, nowMs: number): RawJson {
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
  return objectText(members);
}
