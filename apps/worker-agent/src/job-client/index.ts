export { type Attempt, type ChunkText, type Ending, type JsonOutput, type StopReason } from './attempts/attempt.js';
export { DEFAULT_WORKER_SHARE } from './attempts/worker-shares.js';
export { JobClient, type TakenAttempt, type TakeOutcome } from './job-client.js';
export { isPartedPayload, isPayload } from './reports/payload-bytes.js';
export {
  type RouterAskOptions,
  type JobCalls,
  type PartedCalls,
  type PartsOptions,
  type RouterLink,
} from './router-link.port.js';
export { TransportRouterLink } from './transport-router-link.js';
