import { median, medianRatio, newProgress, percentile, percentiles, print } from './figures.js';
import type { LoadResult } from './load.js';

export interface Comparison {
  readonly what: string;
  /** The least that does the same work, in words. */
  readonly reference: string;
  readonly rounds: number;
  readonly ours: () => Promise<LoadResult>;
  readonly bare: () => Promise<LoadResult>;
}

/** Measures both sides in turn, so that a noisy second hits both, and prints one line about them. */
export async function compare({ what, reference, rounds, ...sides }: Comparison): Promise<void> {
  const ours: LoadResult[] = [];
  const bare: LoadResult[] = [];
  const progress = newProgress();
  for (let round = 1; round <= rounds; round += 1) {
    bare.push(await sides.bare());
    ours.push(await sides.ours());
    progress(`${what}: round ${round} of ${rounds}`);
  }
  const [all, allBare] = [together(ours), together(bare)];
  print(
    `${what}: ${describe(ours)}; ${reference}: ${describe(bare)}; ratio of rates ${ratio(ours, bare, rateOf)}, ` +
      `of p50 ${ratio(ours, bare, p50Of)}, of p99 ${(percentile(all, 0.99) / percentile(allBare, 0.99)).toFixed(2)} ` +
      `(${all.length} calls each)`,
  );
}

const rateOf = ({ perSecond }: LoadResult): number => perSecond;
const p50Of = ({ latenciesMs }: LoadResult): number => percentile(latenciesMs, 0.5);

const ratio = (ours: readonly LoadResult[], bare: readonly LoadResult[], figureOf: (result: LoadResult) => number) =>
  medianRatio(ours.map(figureOf), bare.map(figureOf));

/** Ascending. */
const together = (rounds: readonly LoadResult[]): readonly number[] =>
  rounds.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b);

const describe = (rounds: readonly LoadResult[]): string =>
  `${median(rounds.map(rateOf)).toFixed(0)}/s, ${percentiles(together(rounds))}`;
