import { parseConfig, type Environment } from '@berth/lifecycle';

/** Which runs of the simulator a test makes. */
export interface SimulatorConfig {
  readonly seeds: number;
  readonly firstSeed: number;
}

const SEED_MAX = 2 ** 32 - 1;

export const readSimulatorConfig = (environment: Environment = process.env): SimulatorConfig =>
  parseConfig(environment, (read) => ({
    seeds: read.integer('BERTH_LOG_SIM_SEEDS', 'Runs.', { min: 1, max: 10_000_000, fallback: 2_000 }),
    firstSeed: read.integer('BERTH_LOG_SIM_FIRST_SEED', 'Seed of the first run.', {
      min: 0,
      max: SEED_MAX,
      fallback: 1,
    }),
  }));
