import { parseConfig, systemRandom, type Environment } from '@berth/lifecycle';

export interface FuzzConfig {
  /** Repeats a run: the report names it. By chance unless `BERTH_FUZZ_SEED` says it. */
  readonly seed: number;
}

const SEED_MAX = 999_999_999;

export const readFuzzConfig = (environment: Environment = process.env): FuzzConfig =>
  parseConfig(environment, (read) => ({
    seed: read.integer('BERTH_FUZZ_SEED', 'Repeats a run.', {
      min: 0,
      max: SEED_MAX,
      fallback: Math.floor(systemRandom.fraction() * SEED_MAX),
    }),
  }));
