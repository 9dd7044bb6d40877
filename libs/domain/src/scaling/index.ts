export { countWorkers } from './count-workers.js';
export {
  SCALE_REASONS,
  STABLE_WINDOW_DEFAULT_MS,
  decideScale,
  type ScaleDecision,
  type ScaleMemory,
  type ScaleReason,
} from './decide-scale.js';
export { NO_DEMAND, type Demand, type StrictDemand } from './demand.js';
export { demandOfHeld, type HeldRequest } from './held-demand.js';
export { hostRooms } from './host-rooms.js';
export { ToldCounts, addCounts, type RequestCounts } from './told-counts.js';
export {
  HOST_ENDPOINTS_MAX,
  ToldDemands,
  type DemandWitness,
  type OwnedDemand,
  type ToldDemand,
  type WitnessedDemand,
} from './told-demands.js';
