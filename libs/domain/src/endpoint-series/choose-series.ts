import type { EndpointId } from '../ids.js';

/** Endpoints that have series of their own in one process: what a metric store takes without a thought. */
export const SERIES_MAX = 200;

/** An endpoint takes the series of another one only when it is so many times as busy. */
export const BUSIER_BY = 2;

/**
 * Which endpoints have series of their own: the busiest. Those that have them keep them until others are clearly busier, so
 * that two of about the same weight do not take turns, which would leave holes in both. With the same weights the answer
 * stays what it is.
 *
 * @param members those that have series now
 * @param weights how busy each endpoint is; who is absent is gone, and 0 has a series only while it is a member
 * @returns at most `max`, the busiest first
 */
export function chooseSeries(
  members: ReadonlySet<EndpointId>,
  weights: ReadonlyMap<EndpointId, number>,
  max: number = SERIES_MAX,
): readonly EndpointId[] {
  return [...weights]
    .map(([id, weight]) => ({ id, isMember: members.has(id), score: members.has(id) ? weight * BUSIER_BY : weight }))
    .filter(({ isMember, score }) => isMember || score > 0)
    .toSorted((a, b) => b.score - a.score || Number(b.isMember) - Number(a.isMember) || (a.id < b.id ? -1 : 1))
    .slice(0, max)
    .map(({ id }) => id);
}
