export {
  CONTROL_HINT_SUBJECT,
  DEMAND_STALE_MS,
  DEMAND_SUBJECTS,
  demandSubject,
  type DemandMessage,
} from './demand-message.js';
export {
  BUCKETS,
  type ApiKeySnapshot,
  type AssignmentSnapshot,
  type EndpointSnapshot,
  type HostSnapshot,
} from './snapshots.js';
