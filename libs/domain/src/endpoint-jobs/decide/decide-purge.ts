import { purgedCount, waitingThrough } from '../apply/rules.js';
import { SLICE_MAX } from '../bounds.js';
import type { CommandDecision, PurgeCommand } from '../commands.js';
import type { PurgedFact } from '../facts.js';
import type { EndpointState, Lane } from '../state.js';
import { again, decided } from './outcome.js';

/**
 * Removes what waits now, in slices of places, so that a million jobs stop nobody else; what is queued meanwhile stays.
 * The number is exact, also when jobs are taken and cancelled between the slices. Its repetition is told the same number.
 */
export function decidePurge(state: EndpointState, { purgeId }: PurgeCommand, atMs: number): CommandDecision {
  const last = state.lastPurge?.purgeId === purgeId ? state.lastPurge : null;
  if (last?.isDone === true) return decided({ kind: 'purged', removed: last.removed });
  const { removed, until } = last ?? { removed: 0, until: state.nextOrdinal - 1 };
  const through = sliceOf(state, until);
  const count = purgedCount(state, { through });
  const isLast = count === purgedCount(state, { through: { normal: until, low: until } });
  const fact: PurgedFact = { kind: 'purged', atMs, purgeId, through, count, until, isLast };
  return isLast ? decided({ kind: 'purged', removed: removed + count }, [fact]) : again(fact);
}

/** Normal jobs first, as they would start. */
function sliceOf(state: EndpointState, until: number): PurgedFact['through'] {
  const normal = placeOfSlice(state.normal, until, SLICE_MAX);
  const left = SLICE_MAX - waitingThrough(state.normal, normal);
  return { normal, low: placeOfSlice(state.low, until, left) };
}

/** The place through which `max` jobs of the lane wait, or all of them up to `until`. */
function placeOfSlice(lane: Lane, until: number, max: number): number {
  let low = 0;
  let high = until;
  if (waitingThrough(lane, until) <= max) return until;
  while (low < high) {
    const middle = Math.floor((low + high + 1) / 2);
    if (waitingThrough(lane, middle) <= max) low = middle;
    else high = middle - 1;
  }
  return low;
}
