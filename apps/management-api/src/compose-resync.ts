import {
  apiKeySnapshotShape,
  endpointSnapshotShape,
  hostSnapshotShape,
  webhookSecretsSnapshotShape,
  type SnapshotShape,
} from '@berth/contracts';
import { isUnreadable } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { SnapshotDirectory, snapshotCodec, type Broker, type SnapshotWriter } from '@berth/messaging';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { Database } from './persistence/database.js';
import { AccountsStore } from './persistence/stores/accounts.store.js';
import { WebhookSecretTruth } from './persistence/stores/webhook-secrets.store.js';
import { apiKeyTruth, endpointTruth, hostTruth } from './persistence/stores/snapshot-truths.js';
import { BucketResync } from './snapshots/bucket-resync.js';
import type { KvControlSnapshots } from './snapshots/kv-control-snapshots.js';
import { SnapshotResync, type Resync } from './snapshots/snapshot-resync.js';
import type { SnapshotTruth } from './snapshots/snapshot-truth.port.js';

export interface ResyncParts {
  readonly broker: Broker;
  readonly database: Database;
  readonly snapshots: KvControlSnapshots;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** What else is to be mended at each pass. */
  readonly filling: Resync;
}

/** A snapshot that no row stands behind may belong to a write that is just being committed. */
const ORPHAN_GRACE_MS = 60_000;
/** A day longer than a job can live: until then a router that was away still learns that the endpoint is gone. */
const TOMBSTONE_MS = 8 * 24 * 3_600_000;

/** The loop that keeps the buckets equal to the database, started. */
export async function composeResync(parts: ResyncParts): Promise<{ stop(): Promise<void>; check(): Promise<void> }> {
  const { clock, database, filling, logger, snapshots } = parts;
  const accounts = new AccountsStore(database);
  const grace = (_: unknown, firstSeenMs: number): number => firstSeenMs + ORPHAN_GRACE_MS;
  const buckets = await Promise.all([
    openBucket(parts, endpointTruth(database), {
      writer: snapshots.endpoints,
      shape: endpointSnapshotShape,
      keptUntilMs: (value, firstSeenMs) =>
        value?.deletedAtMs === undefined ? grace(null, firstSeenMs) : value.deletedAtMs + TOMBSTONE_MS,
    }),
    openBucket(parts, apiKeyTruth(database), {
      writer: snapshots.apiKeys,
      shape: apiKeySnapshotShape,
      keptUntilMs: grace,
    }),
    openBucket(parts, hostTruth(database), { writer: snapshots.hosts, shape: hostSnapshotShape, keptUntilMs: grace }),
    openBucket(parts, new WebhookSecretTruth(database), {
      writer: snapshots.webhookSecrets,
      shape: webhookSecretsSnapshotShape,
      keptUntilMs: grace,
    }),
  ]);
  const forgetting: Resync = {
    run: async () => {
      await accounts.forgetDeleted();
    },
  };
  const loop = new SnapshotResync([filling, ...buckets.map(({ resync }) => resync), forgetting], { clock, logger });
  loop.start();
  return {
    stop: async () => {
      await loop.stop();
      await Promise.all(buckets.map(({ directory }) => directory.stop()));
    },
    check: () => loop.check(),
  };
}

async function openBucket<Value>(
  { broker, clock, logger, metrics }: ResyncParts,
  truth: SnapshotTruth<Value>,
  {
    keptUntilMs,
    shape,
    writer,
  }: {
    readonly writer: SnapshotWriter<Value>;
    readonly shape: SnapshotShape<Value>;
    readonly keptUntilMs: (value: Value | null, firstSeenMs: number) => number;
  },
): Promise<{ readonly directory: { stop(): Promise<void> }; readonly resync: Resync }> {
  const directory = new SnapshotDirectory<Value>({
    broker,
    clock,
    bucket: truth.bucket,
    codec: snapshotCodec(shape),
    onError: (error) => {
      // Named where all that cannot be read is; the next pass puts it right.
      if (!isUnreadable(error)) logger.warn(`bucket ${truth.bucket} could not be read`, { error });
    },
  });
  await directory.start();
  return { directory, resync: new BucketResync({ truth, directory, writer, keptUntilMs, clock, logger, metrics }) };
}
