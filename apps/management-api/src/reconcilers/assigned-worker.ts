import type { AssignedWorker, AssignmentSnapshot } from '@berth/contracts';
import { workerSlots, type EndpointSpec, type ObservedWorker, type Worker, type WorkerPorts } from '@berth/domain';

/** A worker as the routers are told of it. */
export const assignedWorker = ({ hostId, id, intent, observed }: Worker): AssignedWorker => ({
  id,
  hostId,
  // To routers that do not know the word a paused worker is an idle one, as it is to tenants.
  phase: observed?.phase === 'paused' ? 'idle' : (observed?.phase ?? 'preparing'),
  ...(intent === 'paused' || observed?.phase === 'paused' ? { isPaused: true } : {}),
  ...(observed?.lacksRoom === true ? { lacksRoom: true } : {}),
  isDraining: intent === 'drained',
  ...portsOf(observed),
});

/** A host may have said null. */
function portsOf(observed: ObservedWorker | null): Partial<WorkerPorts> {
  const { healthPort = null, port = null } = observed ?? {};
  return port === null || healthPort === null ? {} : { port, healthPort };
}

/** How many requests each worker may have at one time, where the endpoint's settings say it. */
export function slotsOf(spec: EndpointSpec): Pick<AssignmentSnapshot, 'slotsPerWorker'> {
  const slots = workerSlots(spec);
  return slots === null ? {} : { slotsPerWorker: slots };
}
