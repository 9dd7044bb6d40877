import type { AssignedWorker, AssignmentSnapshot } from '@berth/contracts';
import type { HostId, WorkerId } from '@berth/domain';

/** `workers` of `/health` (API decisions 2.14). */
export interface AssignedCounts {
  readonly idle: number;
  readonly running: number;
  readonly initializing: number;
  /** Up and taking jobs: idle or busy. */
  readonly ready: number;
  /** Wanted, and no host has a place for them. */
  readonly throttled: number;
  readonly unhealthy: number;
}

const KIND_OF_PHASE: Readonly<
  Record<AssignedWorker['phase'], Exclude<keyof AssignedCounts, 'ready' | 'throttled'> | null>
> = {
  preparing: 'initializing',
  starting: 'initializing',
  waiting: 'initializing',
  idle: 'idle',
  paused: 'idle',
  busy: 'running',
  draining: 'running',
  unhealthy: 'unhealthy',
  removed: null,
};

const isReady = ({ phase, isDraining, isPaused = false }: AssignedWorker): boolean =>
  !isDraining && !isPaused && (phase === 'idle' || phase === 'busy');

export function countAssigned(assignment: AssignmentSnapshot | null): AssignedCounts {
  const throttled = assignment?.outlook?.unplaced?.count ?? 0;
  const counts = { idle: 0, running: 0, initializing: 0, ready: 0, throttled, unhealthy: 0 };
  for (const worker of assignment?.workers ?? []) {
    const kind = KIND_OF_PHASE[worker.phase];
    if (kind !== null) counts[kind] += 1;
    if (isReady(worker)) counts.ready += 1;
  }
  return counts;
}

/** The meaning of a worker's place on a host for new jobs. `draining`: it ends what it has and gets nothing new. */
export type Placement = 'placed' | 'draining' | 'not-placed';

export function placementOf(
  assignment: AssignmentSnapshot | null | undefined,
  { hostId, workerId }: { readonly hostId: HostId; readonly workerId: WorkerId },
): Placement {
  const worker = assignment?.workers.find(({ id }) => id === workerId);
  if (worker?.hostId !== hostId) return 'not-placed';
  return worker.isDraining ? 'draining' : 'placed';
}
