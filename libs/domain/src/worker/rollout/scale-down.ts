import { isRecentlyUsed } from '../idle-time.js';
import { WORKER_LIFECYCLE } from '../worker-phase.js';
import type { Worker } from '../worker.js';

/** Leaves at once, or as long after its last job as is named. */
export interface ScaledDown {
  readonly worker: Worker;
  readonly leavesAfterIdleMs?: number;
}

export interface ScaleDownBounds {
  readonly wanted: number;
  readonly workersMax: number;
  /** How long a worker stays after its last job. Absent: no longer than the scaling decision says. */
  readonly idleTimeoutMs?: number;
  readonly nowMs: number;
}

const phaseRow = ({ observed }: Worker) => WORKER_LIFECYCLE[observed?.phase ?? 'preparing'];

/** Below zero when `a` leaves before `b`: the newer of two that are alike. */
const compareNewest = (a: Worker, b: Worker): number => b.createdAtMs - a.createdAtMs || compareText(a.id, b.id);

/**
 * The workers that are too many. Those above the maximum leave at once; the others when they have been idle for long enough, which
 * their agents know better than anybody here. None with a job is among them.
 */
export function scaleDown(
  staying: readonly Worker[],
  { idleTimeoutMs, nowMs, wanted, workersMax }: ScaleDownBounds,
): readonly ScaledDown[] {
  const isUsed = ({ observed }: Worker): boolean =>
    idleTimeoutMs !== undefined && isRecentlyUsed(observed, idleTimeoutMs, nowMs);
  const candidates = staying
    .flatMap((worker) => {
      const rank = phaseRow(worker).leavesAt;
      return rank === null ? [] : [{ worker, rank, isUsed: isUsed(worker) }];
    })
    .sort((a, b) => a.rank - b.rank || Number(a.isUsed) - Number(b.isUsed) || compareNewest(a.worker, b.worker));
  const aboveMax = Math.max(0, staying.length - Math.max(0, workersMax));
  const tooMany = Math.max(0, staying.length - Math.max(wanted, 0) - aboveMax);
  const idle = candidates.slice(aboveMax).filter((candidate) => !candidate.isUsed);
  const conditional = idleTimeoutMs === undefined ? {} : { leavesAfterIdleMs: idleTimeoutMs };
  return [
    ...candidates.slice(0, aboveMax).map(({ worker }) => ({ worker })),
    ...idle.slice(0, tooMany).map(({ worker }) => ({ worker, ...conditional })),
  ];
}

/** In the order in which they make place for others: what serves nobody first, then idle ones, those with a job last. */
export const inOrderOfLeaving = (workers: readonly Worker[]): readonly Worker[] =>
  workers.toSorted((a, b) => placeRank(a) - placeRank(b) || compareNewest(a, b));

const BUSY_RANK = 5;

function placeRank(worker: Worker): number {
  const { leavesAt, use } = phaseRow(worker);
  if (use === 'busy') return BUSY_RANK;
  return leavesAt ?? WORKER_LIFECYCLE.preparing.leavesAt ?? 0;
}

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
