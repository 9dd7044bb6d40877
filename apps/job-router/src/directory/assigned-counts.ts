import type { AssignedWorker, AssignmentSnapshot } from '@berth/contracts';
import { countStatuses, type HostId, type WorkerId } from '@berth/domain';

/** `workers` of `/health` (API decisions 2.14). */
export interface AssignedCounts {
  readonly idle: number;
  readonly running: number;
  readonly initializing: number;
  /** Up and taking jobs: idle or busy. */
  readonly ready: number;
  /** Wanted, and no host has room for them. */
  readonly throttled: number;
  readonly unhealthy: number;
}

const isReady = ({ phase, isDraining, isPaused = false }: AssignedWorker): boolean =>
  !isDraining && !isPaused && (phase === 'idle' || phase === 'busy');

export function countAssigned(assignment: AssignmentSnapshot | null): AssignedCounts {
  const workers = assignment?.workers ?? [];
  const counts = countStatuses(workers, assignment?.outlook?.unplaced);
  return {
    idle: counts.IDLE,
    running: counts.RUNNING,
    initializing: counts.INITIALIZING,
    ready: workers.filter(isReady).length,
    throttled: counts.THROTTLED,
    unhealthy: counts.UNHEALTHY,
  };
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
