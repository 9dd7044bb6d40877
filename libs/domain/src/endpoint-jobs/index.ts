export { applyFact, type AppliedFact } from './apply/apply-fact.js';
export { type Illegality } from './apply/check-fact.js';
export { type StopOrder, type TouchedJob } from './apply/touched.js';
export {
  BATCH_MAX_BYTES,
  CARRY_AGE_MIN_MS,
  ENDPOINT_BOUNDS_DEFAULT,
  OUTPUT_MAX_BYTES,
  type EndpointBounds,
} from './bounds.js';
export {
  NO_CARRY_REST,
  carryReason,
  isCarryWorth,
  restAfterLook,
  type CarryReason,
  type CarryRest,
  type LogSize,
} from './carry-reason.js';
export { type Carry, type CarryFrame, type LogReader, type LogReference } from './carry.js';
export {
  type AttemptGiven,
  type AttemptProof,
  type CommandRefusal,
  type EndpointCommand,
  type JobWish,
  type TakeAnswered,
  type TakeWish,
} from './commands.js';
export { type DeliveryTriedFact, type EndSummary, type EndpointCounters, type LogFact } from './facts.js';
export { findBody, findOutput } from './find-payload.js';
export { itemJobId, type DeliveryData, type JobBody, type JobData } from './job-data.js';
export { hearHosts, leaseAnew, type LeaseRenewal } from './leases.js';
export { LEGAL_FACTS, type FactSubject } from './legal-facts.js';
export {
  performCarry,
  performCommand,
  performRead,
  performRenewals,
  type CommandOutcome,
  type Desk,
  type Performance,
} from './perform.js';
export { newEndpointState, type EndpointState } from './state.js';
export { type LogPlace } from './structures/carry-list.js';
export {
  nextLookAtMs,
  viewAssignment,
  viewDemand,
  viewHealth,
  viewJobs,
  viewPosition,
  viewQueue,
  viewStatus,
  type AttemptAssignment,
  type HeldPayload,
  type JobCounts,
  type JobStatusView,
} from './views.js';
export { DueHeap, type DueSlots } from './structures/due-heap.js';
