import {
  apiKeySnapshotShape,
  endpointSnapshotShape,
  hostSnapshotShape,
  webhookSecretsSnapshotShape,
  type SnapshotShape,
} from '@berth/contracts';
import { isUnreadable } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { SnapshotDirectory, snapshotCodec, type Broker } from '@berth/messaging';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { SnapshotPublishing } from './compose-snapshots.js';
import type { AlignedBucket } from './aligned-bucket.js';
import { BucketResync } from './bucket-resync.js';
import { SnapshotResync, type Resync } from './snapshot-resync.js';

export interface ResyncParts {
  readonly broker: Broker;
  readonly snapshots: Pick<SnapshotPublishing, 'buckets' | 'outbox' | 'publisher'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Run before the buckets of each pass, and after them. */
  readonly filling: Resync;
  readonly forgetting: Resync;
}

/** A process of a version before the outbox publishes before it commits: a snapshot without a row may be one of its. */
const ORPHAN_GRACE_MS = 60_000;
/** A day longer than a job can live: until then a router that was away still learns that the endpoint is gone. */
const DELETED_ENDPOINT_KEPT_MS = 8 * 24 * 3_600_000;

/** The loops that bring changes to the buckets and keep these equal to the database, started. */
export async function composeResync(parts: ResyncParts): Promise<{ stop(): Promise<void>; check(): Promise<void> }> {
  const { clock, filling, forgetting, logger, snapshots } = parts;
  const { apiKeys, endpoints, hosts, webhookSecrets } = snapshots.buckets;
  const grace = (_: unknown, firstSeenMs: number): number => firstSeenMs + ORPHAN_GRACE_MS;
  const buckets = await Promise.all([
    openBucket(parts, endpoints, {
      shape: endpointSnapshotShape,
      keptUntilMs: (value, firstSeenMs) =>
        value?.deletedAtMs === undefined ? grace(null, firstSeenMs) : value.deletedAtMs + DELETED_ENDPOINT_KEPT_MS,
    }),
    openBucket(parts, apiKeys, { shape: apiKeySnapshotShape, keptUntilMs: grace }),
    openBucket(parts, hosts, { shape: hostSnapshotShape, keptUntilMs: grace }),
    openBucket(parts, webhookSecrets, { shape: webhookSecretsSnapshotShape, keptUntilMs: grace }),
  ]);
  const loop = new SnapshotResync([filling, ...buckets.map(({ resync }) => resync), forgetting], { clock, logger });
  loop.start();
  snapshots.publisher.start();
  return {
    stop: async () => {
      await Promise.all([loop.stop(), snapshots.publisher.stop()]);
      await Promise.all(buckets.map(({ directory }) => directory.stop()));
    },
    check: () => loop.check(),
  };
}

async function openBucket<Value>(
  { broker, clock, logger, metrics, snapshots: { outbox } }: ResyncParts,
  bucket: AlignedBucket<Value>,
  {
    keptUntilMs,
    shape,
  }: {
    readonly shape: SnapshotShape<Value>;
    readonly keptUntilMs: (value: Value | null, firstSeenMs: number) => number;
  },
): Promise<{ readonly directory: { stop(): Promise<void> }; readonly resync: Resync }> {
  const directory = new SnapshotDirectory<Value>({
    broker,
    clock,
    bucket: bucket.name,
    codec: snapshotCodec(shape),
    onError: (error) => {
      // Named where all that cannot be read is; the next pass puts it right.
      if (!isUnreadable(error)) logger.warn(`bucket ${bucket.name} could not be read`, { error });
    },
  });
  await directory.start();
  return { directory, resync: new BucketResync({ bucket, directory, outbox, keptUntilMs, clock, logger, metrics }) };
}
