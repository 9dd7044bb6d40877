export { countGpus, type GpuCount } from './count-gpus.js';
export {
  describeDecision,
  type CarriedOut,
  type DecisionInputs,
  type DecisionOutcome,
  type DecisionRecord,
} from './decision-record.js';
export { newFleetMemory, type FleetMemory } from './fleet-memory.js';
export { hostIdOf, withOperation, workerIdOf, type FleetOperation } from './fleet-operation.js';
export { type Fleet, type FleetEndpoint, type ScalingRecord, type WaitingWorker } from './fleet.js';
export { DELETED_KEPT_MS } from './plan-draft.js';
export type { EndpointPlan } from './endpoint-plan.js';
export { planFleet } from './plan-fleet.js';
