export { type Clock } from './clock.js';
export { ConfigError, ConfigReader, parseConfig, type Environment } from './config-reader.js';
export { ControlLoop, type ControlLoopOptions } from './control-loop.js';
export { inParallel } from './in-parallel.js';
export { Permits } from './permits.js';
export { systemRandom, type Random } from './random.js';
export { retry, type RetryOptions } from './retry.js';
export { systemClock } from './system-clock.js';
export { TurnBatch } from './turn-batch.js';
