export { countWorkers, totalWorkers, type WorkerCounts } from './count-workers.js';
export {
  STABLE_WINDOW_DEFAULT_MS,
  decideScale,
  type ScaleDecision,
  type ScaleMemory,
  type ScaleReason,
  type ScaleView,
} from './decide-scale.js';
export { NO_DEMAND, type Demand } from './demand.js';
export type { AddedForDelay } from './queue-delay.js';
export { ShardDemands, type OwnedDemand, type ToldDemand } from './shard-demands.js';
export type { WantedLevel } from './stable-window.js';
export type { DemandReason } from './wanted-workers.js';
