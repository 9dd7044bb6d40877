import type { EndpointState } from '@berth/domain';
import { indexOf } from '../batch/log-index.js';
import type { LogIndex } from '../ports/log-broker.port.js';

/** Something that stands beside a batch and is not as the batch leaves the endpoint. */
export interface IndexDifference {
  readonly member: keyof LogIndex;
  /** The value that stands beside the batch. */
  readonly told: number | null;
  /** The value to which the facts add up. */
  readonly found: number | null;
}

const COUNTS = ['waitingNormal', 'waitingLow', 'oldestQueuedAtMs', 'running', 'runningLow', 'living'] as const;

/** @param state of a replay through the batch, which must be whole */
export function compareIndex(told: LogIndex, state: EndpointState): readonly IndexDifference[] {
  const found = indexOf(state, state.lastAtMs);
  const counts = COUNTS.filter((member) => told[member] !== found[member]);
  const members = isDuePossible(told, found, state) ? counts : [...counts, 'dueAtMs' as const];
  return members.map((member) => ({ member, told: told[member], found: found[member] }));
}

/**
 * Facts tell when lives end and when deliveries go on. Renewed leases they do not tell, and delays that are over they do
 * not need to: an owner may have looked further ahead than they say, never past those ends.
 */
function isDuePossible({ dueAtMs }: LogIndex, found: LogIndex, { lives, running, sending }: EndpointState): boolean {
  const told = dueAtMs ?? Number.POSITIVE_INFINITY;
  if (told > Math.ceil(Math.min(lives.nextAtMs, sending.nextAtMs))) return false;
  return running.size > 0 || told >= (found.dueAtMs ?? Number.POSITIVE_INFINITY);
}
