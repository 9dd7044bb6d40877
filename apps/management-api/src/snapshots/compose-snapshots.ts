import {
  apiKeySnapshotShape,
  endpointSnapshotShape,
  hostSnapshotShape,
  webhookSecretsSnapshotShape,
  type ApiKeySnapshot,
  type EndpointSnapshot,
  type HostSnapshot,
  type SnapshotShape,
  type WebhookSecretsSnapshot,
} from '@berth/contracts';
import type { Clock } from '@berth/lifecycle';
import { SnapshotWriter, snapshotCodec, type Broker } from '@berth/messaging';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { Database, Transactions } from '../persistence/index.js';
import { SnapshotOutboxStore } from './snapshot-outbox.store.js';
import { apiKeyTruth, endpointTruth, hostTruth } from './snapshot-truths.js';
import { WebhookSecretTruth } from './webhook-secret-truth.js';
import { AlignedBucket } from './aligned-bucket.js';
import { ControlSnapshots } from './control-snapshots.js';
import type { SnapshotOutbox } from './snapshot-outbox.port.js';
import { SnapshotPublisher } from './snapshot-publisher.js';
import type { SnapshotTruth } from './snapshot-truth.port.js';

export interface SnapshotParts {
  readonly broker: Broker;
  readonly database: Database;
  readonly transactions: Pick<Transactions, 'afterCommit'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/** The snapshots that other processes are told, and their way to the buckets. */
export interface SnapshotPublishing {
  readonly snapshots: ControlSnapshots;
  readonly outbox: SnapshotOutbox;
  /** Its loop is not started yet. */
  readonly publisher: SnapshotPublisher;
  readonly buckets: {
    readonly endpoints: AlignedBucket<EndpointSnapshot>;
    readonly apiKeys: AlignedBucket<ApiKeySnapshot>;
    readonly hosts: AlignedBucket<HostSnapshot>;
    readonly webhookSecrets: AlignedBucket<WebhookSecretsSnapshot>;
  };
}

export function composeSnapshots(parts: SnapshotParts): SnapshotPublishing {
  const { broker, clock, database, transactions } = parts;
  const open = <Value>(truth: SnapshotTruth<Value>, shape: SnapshotShape<Value>): AlignedBucket<Value> => {
    const codec = snapshotCodec(shape);
    return new AlignedBucket({ truth, writer: new SnapshotWriter({ broker, clock, bucket: truth.bucket, codec }) });
  };
  const buckets = {
    endpoints: open(endpointTruth(database), endpointSnapshotShape),
    apiKeys: open(apiKeyTruth(database), apiKeySnapshotShape),
    hosts: open(hostTruth(database), hostSnapshotShape),
    webhookSecrets: open(new WebhookSecretTruth(database), webhookSecretsSnapshotShape),
  };
  const outbox = new SnapshotOutboxStore(database);
  const publisher = new SnapshotPublisher({ ...parts, outbox, buckets: Object.values(buckets) });
  return { snapshots: new ControlSnapshots({ broker, transactions, outbox, publisher }), outbox, publisher, buckets };
}
