import type { HostId } from '../ids.js';
import { NO_DEMAND, type Demand } from './demand.js';

/**
 * How many requests each host can have of one endpoint: those that the workers take which it was given.
 *
 * @param slots of each worker
 */
export function hostRooms(workers: readonly { readonly hostId: HostId }[], slots: number): ReadonlyMap<HostId, number> {
  const byHost = Map.groupBy(workers, ({ hostId }) => hostId);
  return new Map([...byHost].map(([hostId, own]) => [hostId, own.length * slots]));
}

/**
 * A host belongs to somebody, so it is believed only what can be: requests in flight, in the room that it has. One that does
 * not know is taken for full, which keeps its own workers and brings no other.
 *
 * @param told null: it does not know
 */
export function believedOfHost(told: Demand | null, room: number): Demand {
  return { ...NO_DEMAND, running: Math.min(told?.running ?? room, room) };
}
