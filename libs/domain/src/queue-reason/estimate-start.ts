import type { QueueView } from './queue-view.js';

/**
 * In how many ms the job may start, by the pace of the last minute: what runs now is how many jobs the workers take at
 * one time, and each of them ends after the mean execution time. Null where nothing was measured, or nothing runs.
 */
export function estimateStartMs(view: QueueView, nowMs: number): number | null {
  const { endedLastMinute, executionMsLastMinute, job, position, running, workers } = view;
  if (position === null || workers.idle + workers.busy === 0) return null;
  const delayMs = Math.max(0, job.notBeforeMs - nowMs);
  if (position <= workers.idle) return Math.round(delayMs);
  if (endedLastMinute === 0 || running === 0) return null;
  const meanMs = executionMsLastMinute / endedLastMinute;
  return Math.round(Math.max(delayMs, ((position - workers.idle) * meanMs) / running));
}
