import { systemClock } from '@berth/lifecycle';

/** @param share in [0, 1]: 0.5 is the median */
export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number =>
  percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

/** The median of what each round says by itself: a noisy minute then hits both sides alike. */
export const medianRatio = (ours: readonly number[], bare: readonly number[]): string =>
  median(ours.map((each, round) => each / (bare[round] ?? Number.NaN))).toFixed(2);

/** @param latenciesMs ascending */
export const percentiles = (latenciesMs: readonly number[]): string =>
  `p50 ${percentile(latenciesMs, 0.5).toFixed(2)} ms, p99 ${percentile(latenciesMs, 0.99).toFixed(2)} ms`;

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

const PROGRESS_MS = 3_000;

/** Prints a line now and then, so that who waits sees that something happens. */
export function newProgress(): (line: string) => void {
  let printedAtMs = systemClock.monotonicMs();
  return (line) => {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - printedAtMs < PROGRESS_MS) return;
    printedAtMs = nowMs;
    print(`  ${line}`);
  };
}
