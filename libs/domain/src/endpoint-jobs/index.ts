export { applyFact } from './apply/apply-fact.js';
export { type Illegality } from './apply/check-fact.js';
export { type CountedEnd, type Leftovers, type StopOrder, type TouchedJob } from './apply/touched-job.js';
export {
  BATCH_MAX_BYTES,
  CARRY_AGE_MIN_MS,
  ENDPOINT_BOUNDS_DEFAULT,
  ATTEMPT_LEASE_MS,
  LEASE_TRUST_MS,
  OUTPUT_MAX_BYTES,
  RENEW_EARLIEST_MS,
  RENEW_INTERVAL_MS,
  SUBMIT_JOBS_MAX,
  endpointBounds,
  type EndpointBounds,
} from './bounds.js';
export {
  NO_CARRY_REST,
  carryReason,
  isCarryWorth,
  restAfterLook,
  type CarryReason,
  type CarryRest,
} from './carrying/carry-reason.js';
export { livingLogBytes, type Carry, type CarryFrame, type LogReader, type LogReference } from './carrying/carry.js';
export {
  type AttemptGiven,
  type AttemptProof,
  type BeginTryCommand,
  type CancelCommand,
  type CommandRefusal,
  type EndTryCommand,
  type EndpointCommand,
  type FinishCommand,
  type GiveUpCommand,
  type JobWish,
  type LetGoCommand,
  type ProgressCommand,
  type PurgeCommand,
  type ReplaceLifeCommand,
  type RetryCommand,
  type SubmitCommand,
  type TakeAnswered,
  type TakeWish,
} from './commands.js';
export { endingOf } from './ending.js';
export { viewFailures, type FailedJob } from './views/failure-views.js';
export { viewDueDeliveries, viewToldEnd, type DueDelivery, type ToldEnd } from './views/delivery-views.js';
export { type EndpointCounters, type LogFact, type LogFactKind } from './facts.js';
export { findBody, findOutput } from './find-payload.js';
export { itemJobId, type DeliveryData, type JobBody, type JobData } from './job-data.js';
export { hearHosts, leaseAnew, type LeaseRenewal } from './leases.js';
export { LEGAL_FACTS } from './legal-facts.js';
export {
  performCarry,
  performCommand,
  performRead,
  performRenewals,
  performViewed,
  type CommandOutcome,
  type CommandContext,
  type Performance,
  type ViewedCommand,
  type ViewedOutcome,
} from './perform.js';
export { newEndpointState, type EndpointState } from './state.js';
export { GROWTH_FILL_MAX, SUBMIT_FILL_MAX, findsRoom } from './store-room.js';
export { type LogPlace } from './structures/carry-list.js';
export {
  viewAssignment,
  viewBody,
  viewDeliveries,
  viewDescription,
  viewHold,
  viewJob,
  viewJobs,
  type AttemptAssignment,
  type HeldAttempt,
  type HeldPayload,
  type PayloadReference,
  type SeenJob,
} from './views/job-views.js';
export { nextLookAtMs, nextTryAtMs, viewDemand, viewHealth, type JobCounts } from './views/queue-views.js';
export { DueHeap } from './structures/due-heap.js';
