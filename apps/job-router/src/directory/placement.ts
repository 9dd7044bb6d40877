import type { AssignmentSnapshot } from '@berth/contracts';
import type { HostId, WorkerId } from '@berth/domain';

/** What a worker's place on a host means for new jobs. `draining`: it ends what it has and gets nothing new. */
export type Placement = 'placed' | 'draining' | 'not-placed';

export function placementOf(
  assignment: AssignmentSnapshot | null | undefined,
  { hostId, workerId }: { readonly hostId: HostId; readonly workerId: WorkerId },
): Placement {
  const worker = assignment?.workers.find(({ id }) => id === workerId);
  if (worker?.hostId !== hostId) return 'not-placed';
  return worker.isDraining ? 'draining' : 'placed';
}
