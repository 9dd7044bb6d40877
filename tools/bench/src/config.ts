import { parseConfig, type Environment } from '@berth/lifecycle';

/** How large a system `scale` measures. */
export interface ScaleConfig {
  /** Jobs that wait. */
  readonly liveJobs: number;
  readonly endpoints: number;
}

const LIVE_JOBS_BOUNDS = { min: 1_000, max: 5_000_000, fallback: 1_000_000 };
const JOBS_PER_ENDPOINT = 100;
/** An account may have 10,000, and the probe has one. */
const ENDPOINTS_MAX = 9_999;

/** @throws ConfigError */
export const readScaleConfig = (environment: Environment = process.env): ScaleConfig =>
  parseConfig(environment, (read) => {
    const liveJobs = read.integer('BERTH_BENCH_LIVE_JOBS', 'Jobs that wait.', LIVE_JOBS_BOUNDS);
    return { liveJobs, endpoints: Math.min(ENDPOINTS_MAX, Math.ceil(liveJobs / JOBS_PER_ENDPOINT)) };
  });

export interface MemoryConfig {
  /** Jobs that are submitted, run and outlived. */
  readonly jobs: number;
}

/** @throws ConfigError */
export const readMemoryConfig = (environment: Environment = process.env): MemoryConfig =>
  parseConfig(environment, (read) => ({
    jobs: read.integer('BERTH_BENCH_LIVE_JOBS', 'Jobs that are run.', LIVE_JOBS_BOUNDS),
  }));

export interface SoakConfig {
  readonly minutes: number;
  readonly jobsPerSecond: number;
}

const MINUTES_BOUNDS = { min: 1, max: 24 * 60, fallback: 60 };
const JOBS_PER_SECOND_BOUNDS = { min: 1, max: 5_000, fallback: 150 };

/** @throws ConfigError */
export const readSoakConfig = (environment: Environment = process.env): SoakConfig =>
  parseConfig(environment, (read) => ({
    minutes: read.integer('BERTH_BENCH_MINUTES', 'How long it runs.', MINUTES_BOUNDS),
    jobsPerSecond: read.integer('BERTH_BENCH_JOBS_PER_SECOND', 'Jobs that come each second.', JOBS_PER_SECOND_BOUNDS),
  }));

export interface EndpointsConfig {
  /** Each with a worker, and a job a second. */
  readonly endpoints: number;
}

/** @throws ConfigError */
export const readEndpointsConfig = (environment: Environment = process.env): EndpointsConfig =>
  parseConfig(environment, (read) => ({
    endpoints: read.integer('BERTH_BENCH_ENDPOINTS', 'Endpoints that are served.', {
      min: 1,
      max: 2_000,
      fallback: 1_000,
    }),
  }));
