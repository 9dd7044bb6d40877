/** A number of workers and the last instant at which it was still believed to be wanted. */
export interface WantedLevel {
  readonly workers: number;
  readonly untilMs: number;
}

/**
 * The highest numbers of workers wanted within a trailing window: each lower than the one before it and wanted later,
 * so the first is the most that was wanted. Their number is bounded by the distinct values, thus by `workers.max`.
 *
 * A value holds until the next one is seen, not only at its own instant: a loop that looks rarely must not take the gap
 * between two looks for a quiet time.
 */
export function withLevel(
  levels: readonly WantedLevel[],
  wanted: number,
  { windowMs, nowMs }: { readonly windowMs: number; readonly nowMs: number },
): readonly [WantedLevel, ...WantedLevel[]] {
  const upToNow = levels.map((level, index) => (index === levels.length - 1 ? { ...level, untilMs: nowMs } : level));
  const higher = upToNow.filter(({ workers, untilMs }) => workers > wanted && nowMs - untilMs < windowMs);
  const newest = { workers: wanted, untilMs: nowMs };
  const [first, ...rest] = higher;
  return first === undefined ? [newest] : [first, ...rest, newest];
}
