export {
  CONTROL_HINT_SUBJECT,
  CONTROL_PULSE_SUBJECT,
  DEMAND_STALE_MS,
  DEMAND_SUBJECTS,
  demandSubject,
  ownersDemand,
  readDemandMessage,
  toldDemands,
  witnessedDemand,
  type DemandMessage,
  type DemandShard,
  type WitnessMessage,
} from './demand-message.js';
export {
  BUCKETS,
  webhookSecretContext,
  type ApiKeySnapshot,
  type AssignedWorker,
  type AssignmentSnapshot,
  type EndpointSnapshot,
  type HostSnapshot,
  type WebhookSecretsSnapshot,
} from './snapshots.js';
export {
  apiKeySnapshotShape,
  assignmentSnapshotShape,
  endpointSnapshotShape,
  hostSnapshotShape,
  webhookSecretsSnapshotShape,
  type SnapshotShape,
} from './snapshot-shapes.js';
