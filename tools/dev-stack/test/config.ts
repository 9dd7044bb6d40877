import { parseConfig, systemRandom, type Environment } from '@berth/lifecycle';

export interface CrashConfig {
  readonly seed: number;
  /** How often each process is killed, and each router ended and frozen besides. */
  readonly rounds: number;
  readonly jobs: number;
}

const SEED_MAX = 999_999;
const ROUNDS_DEFAULT = 4;
const JOBS_DEFAULT = 5_000;

export const readCrashConfig = (environment: Environment = process.env): CrashConfig =>
  parseConfig(environment, (read) => ({
    seed: read.integer('BERTH_CRASH_SEED', 'Repeats a run.', {
      min: 0,
      max: SEED_MAX,
      fallback: Math.floor(systemRandom.fraction() * SEED_MAX),
    }),
    rounds: read.integer('BERTH_CRASH_ROUNDS', 'How often each process is killed.', {
      min: 1,
      max: 100,
      fallback: ROUNDS_DEFAULT,
    }),
    jobs: read.integer('BERTH_CRASH_JOBS', 'Jobs at least.', { min: 1, max: 1_000_000, fallback: JOBS_DEFAULT }),
  }));

/** The test's own environment with some variables set, for a child process. */
export const environmentWith = (more: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...more,
});
