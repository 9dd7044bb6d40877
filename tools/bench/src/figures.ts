/** @param share in [0, 1]: 0.5 is the median */
export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number =>
  percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

export const print = (line: string): void => void process.stdout.write(`${line}\n`);
