/** How fast bytes have to move at least, so that who moves few cannot hold what others need. */
export interface LeastRate {
  readonly bytesPerSecond: number;
  /** How long nothing need move at the beginning. */
  readonly graceMs: number;
  /** How far ahead of the rate one may get: after so long without a byte it is over, whatever came before. */
  readonly aheadMaxMs: number;
}

/** Something on its way: for how long it may stand still from an instant on. */
export interface Passage {
  readonly aheadMs: number;
  readonly atMs: number;
}

export interface PassageVerdict {
  readonly passage: Passage;
  readonly isTooSlow: boolean;
}

const SECOND_MS = 1_000;

export const startPassage = ({ graceMs }: LeastRate, nowMs: number): Passage => ({ aheadMs: graceMs, atMs: nowMs });

/** @param bytes those that have moved since the last look */
export function followPassage(
  { aheadMs, atMs }: Passage,
  { aheadMaxMs, bytesPerSecond }: LeastRate,
  { bytes, nowMs }: { readonly bytes: number; readonly nowMs: number },
): PassageVerdict {
  const left = aheadMs - Math.max(0, nowMs - atMs) + (bytes / bytesPerSecond) * SECOND_MS;
  return { passage: { aheadMs: Math.min(left, aheadMaxMs), atMs: nowMs }, isTooSlow: left < 0 };
}
