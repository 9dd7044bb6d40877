import { parseConfig, type Environment } from '@berth/lifecycle';

/** How large a system `scale` measures. */
export interface ScaleConfig {
  /** Jobs that wait. */
  readonly liveJobs: number;
  readonly endpoints: number;
}

const LIVE_JOBS_BOUNDS = { min: 1_000, max: 5_000_000, fallback: 1_000_000 };
const JOBS_PER_ENDPOINT = 100;

/** @throws ConfigError */
export const readScaleConfig = (environment: Environment = process.env): ScaleConfig =>
  parseConfig(environment, (read) => {
    const liveJobs = read.integer('BERTH_BENCH_LIVE_JOBS', LIVE_JOBS_BOUNDS);
    return { liveJobs, endpoints: Math.ceil(liveJobs / JOBS_PER_ENDPOINT) };
  });

export interface MemoryConfig {
  /** Jobs that are submitted, run and outlived. */
  readonly jobs: number;
}

/** @throws ConfigError */
export const readMemoryConfig = (environment: Environment = process.env): MemoryConfig =>
  parseConfig(environment, (read) => ({ jobs: read.integer('BERTH_BENCH_LIVE_JOBS', LIVE_JOBS_BOUNDS) }));
