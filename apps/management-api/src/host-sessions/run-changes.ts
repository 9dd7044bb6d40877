import { runChange, type ObservedWorker } from '@berth/domain';
import type { WorkerRunChange } from '../usage/index.js';

/** What it says of the workers of its host, and when. */
interface ToldWorkers {
  readonly workers: readonly ObservedWorker[];
  readonly receivedAtMs: number;
  /** By the host's own clock; absent: it does not say. */
  readonly sentAtMs?: number;
}

/** A worker of which a report says something new. */
export interface ChangedRow {
  readonly id: string;
  readonly created_at: Date;
  readonly before: ObservedWorker | null;
}

/**
 * What a report changes of the time that is counted for its workers.
 *
 * @param previousAtMs when the report before it was received; null: it is the first
 */
export function runChanges(
  { receivedAtMs, sentAtMs, workers }: ToldWorkers,
  changed: readonly ChangedRow[],
  previousAtMs: number | null,
): readonly WorkerRunChange[] {
  const told = new Map<string, ObservedWorker>(workers.map((worker) => [worker.workerId, worker]));
  const sent = sentAtMs === undefined ? {} : { sentAtMs };
  return changed.flatMap(({ before, created_at: placedAt, id }) => {
    const after = told.get(id);
    if (after === undefined) return [];
    const times = { receivedAtMs, ...sent, previousAtMs, placedAtMs: placedAt.getTime() };
    const change = runChange(before, after, times);
    return change === null ? [] : [{ workerId: after.workerId, ...change }];
  });
}
