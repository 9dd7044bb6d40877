import { ACKNOWLEDGEMENT_GAP_MAX_MS } from './bounds.js';

/** A time without a gap in which the broker acknowledged what this router wrote. Monotonic instants. */
export interface Acknowledgements {
  readonly sinceMs: number;
  readonly lastMs: number;
}

export const NO_ACKNOWLEDGEMENTS: Acknowledgements = {
  sinceMs: Number.POSITIVE_INFINITY,
  lastMs: Number.NEGATIVE_INFINITY,
};

/** @param sentAtMs an answer that took longer than a gap may last is none: it is proof of a time long past */
export function acknowledge(before: Acknowledgements, sentAtMs: number, nowMs: number): Acknowledgements {
  if (nowMs - sentAtMs > ACKNOWLEDGEMENT_GAP_MAX_MS) return before;
  return { sinceMs: isUnbroken(before, nowMs) ? before.sinceMs : nowMs, lastMs: nowMs };
}

/**
 * For how long a revision has been seen unmoved while others could have moved it. While leaders of the broker change nobody
 * can write, so that time must not count against anyone.
 *
 * @param firstSeenMs when its first sight arrived here, which is later than its writer sent it
 */
export function unmovedMs(acknowledgements: Acknowledgements, firstSeenMs: number, nowMs: number): number {
  if (!isUnbroken(acknowledgements, nowMs)) return 0;
  return Math.max(0, nowMs - Math.max(firstSeenMs, acknowledgements.sinceMs));
}

const isUnbroken = ({ lastMs }: Acknowledgements, nowMs: number): boolean =>
  nowMs - lastMs <= ACKNOWLEDGEMENT_GAP_MAX_MS;
