import { DiscardPolicy, PersistMode, RetentionPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { BUCKET_NAMES, CLAIMS_BUCKET, bucketStream, bucketSubjects } from './buckets.js';
import { DELIVERY_SHARDS, ENDPOINT_SHARDS, JOB_SHARDS, LOG_SHARDS } from './shards.js';
import {
  FAMILIES,
  STREAMS,
  blobStream,
  chunkStream,
  deliveryStream,
  leaseStream,
  logFilter,
  logStream,
  readerCursorStream,
  recordStream,
  reservationStream,
  ticketStream,
} from './subjects.js';

export interface TopologySize {
  /** 1, or 3 where there are three brokers. */
  readonly replicas: 1 | 3;
  /** What all file streams together may take; at most the broker's `max_file_store`, which counts it as reserved. */
  readonly storageBytes: number;
  /** The same for what lies in memory: leases of about 400 bytes each, and the cursors of stream readers. */
  readonly memoryBytes: number;
}

/**
 * `jobs`: what the routers write. `snapshots`: what the control plane writes. Each sets up its own.
 * `log`: what is to take the place of most of `jobs`. No process makes it yet.
 */
export type TopologyPart = 'jobs' | 'snapshots' | 'log';

/**
 * How the storage is divided, by kind; every shard of a kind gets the same. Records and blobs hold what was accepted
 * and get most; a tenth of `EV` would still be more than the views need. The rest of the whole is left free.
 */
export const STORAGE_SHARES = {
  records: 0.3,
  blobs: 0.33,
  chunks: 0.12,
  events: 0.09,
  tickets: 0.04,
  deliveries: 0.04,
  reservations: 0.03,
  buckets: 0.04,
  checkpoints: 0.005,
} as const;

/** The same for the part `log`, which is not made beside the records that it is to replace. */
export const LOG_STORAGE_SHARES = { logs: 0.4, claims: 0.005 } as const;

type StorageKind = keyof typeof STORAGE_SHARES;

const SHARDS_OF: Readonly<Record<StorageKind, number>> = {
  records: JOB_SHARDS,
  blobs: JOB_SHARDS,
  chunks: JOB_SHARDS,
  events: 1,
  tickets: ENDPOINT_SHARDS,
  reservations: JOB_SHARDS,
  deliveries: DELIVERY_SHARDS,
  buckets: BUCKET_NAMES.length,
  checkpoints: 1,
};

const maxBytesOf = (kind: StorageKind, { storageBytes }: Pick<TopologySize, 'storageBytes'>): number =>
  Math.floor((storageBytes * STORAGE_SHARES[kind]) / SHARDS_OF[kind]);

/** Leases decide about jobs; a reader's cursor that is dropped costs a repeat. */
const MEMORY_SHARES = { leases: 0.75, readerCursors: 0.25 } as const;

const maxMemoryOf = (kind: keyof typeof MEMORY_SHARES, { memoryBytes }: Pick<TopologySize, 'memoryBytes'>): number =>
  Math.floor((memoryBytes * MEMORY_SHARES[kind]) / ENDPOINT_SHARDS);

/** How long a record's expiry stays visible to those who read the stream, and for which its id cannot be created again. */
export const RECORD_MARKER_MS = 60_000;
/** Long enough for a reaper that was away to find every lease that ran out. */
export const LEASE_MARKER_MS = 10 * 60_000;
/** How long transitions stay in `EV`. */
export const EVENTS_MAX_AGE_MS = 14 * 24 * 3_600_000;

/** Cannot be changed on a stream that exists, so it is generous: every process that reads along is one consumer. */
const READERS_MAX = 1_000;
/** Where only direct reads happen, besides a sourcing stream and an operator who looks. */
const FEW_READERS_MAX = 64;

const numbered = <T>(count: number, make: (shard: number) => T): T[] =>
  Array.from({ length: count }, (_, shard) => make(shard));

type Config = Partial<StreamConfig> & Pick<StreamConfig, 'name'>;

const common = ({ replicas }: TopologySize): Partial<StreamConfig> => ({
  retention: RetentionPolicy.Limits,
  storage: StorageType.File,
  // Refuse rather than drop: what is in a stream was acknowledged to somebody.
  discard: DiscardPolicy.New,
  num_replicas: replicas,
  allow_direct: true,
});

/** What can be made again need not be synced. Only a stream of one replica can say so. */
const unsynced = ({ replicas }: TopologySize): Partial<StreamConfig> =>
  replicas === 1 ? { persist_mode: PersistMode.Async } : {};

const records = (shard: number, size: TopologySize): Config => ({
  ...common(size),
  name: recordStream(shard),
  subjects: [`${FAMILIES.records}.${shard}.>`],
  max_bytes: maxBytesOf('records', size),
  max_msgs_per_subject: 1,
  max_consumers: READERS_MAX,
  allow_msg_ttl: true,
  subject_delete_marker_ttl: nanos(RECORD_MARKER_MS),
  republish: {
    src: `${FAMILIES.records}.${shard}.>`,
    dest: `${FAMILIES.recordNotices}.${shard}.>`,
    headers_only: true,
  },
});

const tickets = (shard: number, size: TopologySize): Config => ({
  ...common(size),
  ...unsynced(size),
  name: ticketStream(shard),
  subjects: [`${FAMILIES.tickets}.${shard}.>`],
  max_bytes: maxBytesOf('tickets', size),
  max_msgs_per_subject: 1,
  discard_new_per_subject: true,
  max_consumers: FEW_READERS_MAX,
  allow_msg_ttl: true,
  republish: {
    src: `${FAMILIES.tickets}.${shard}.>`,
    dest: `${FAMILIES.ticketNotices}.${shard}.>`,
    headers_only: true,
  },
});

const leases = (shard: number, size: TopologySize): Config => ({
  ...common(size),
  name: leaseStream(shard),
  subjects: [`${FAMILIES.leases}.${shard}.>`],
  storage: StorageType.Memory,
  max_bytes: maxMemoryOf('leases', size),
  max_msgs_per_subject: 1,
  max_consumers: READERS_MAX,
  allow_msg_ttl: true,
  subject_delete_marker_ttl: nanos(LEASE_MARKER_MS),
});

/** Drops its oldest when full: the reader that has not read for longest is forgotten first, and none is refused. */
const readerCursors = (shard: number, size: TopologySize): Config => ({
  ...common(size),
  name: readerCursorStream(shard),
  subjects: [`${FAMILIES.readerCursors}.${shard}.>`],
  storage: StorageType.Memory,
  discard: DiscardPolicy.Old,
  max_bytes: maxMemoryOf('readerCursors', size),
  max_msgs_per_subject: 1,
  max_consumers: FEW_READERS_MAX,
  allow_msg_ttl: true,
});

const attachments = (
  stream: { readonly name: string; readonly subjects: string; readonly kind: 'blobs' | 'chunks' },
  size: TopologySize,
): Config => ({
  ...common(size),
  name: stream.name,
  subjects: [stream.subjects],
  max_bytes: maxBytesOf(stream.kind, size),
  max_msgs_per_subject: 1,
  max_consumers: FEW_READERS_MAX,
  allow_msg_ttl: true,
});

/** No markers: a key whose time is over is free at once. */
const reservations = (shard: number, size: TopologySize): Config => ({
  ...common(size),
  name: reservationStream(shard),
  subjects: [`${FAMILIES.reservations}.${shard}.>`],
  max_bytes: maxBytesOf('reservations', size),
  max_msgs_per_subject: 1,
  max_consumers: FEW_READERS_MAX,
  allow_msg_ttl: true,
});

/**
 * Every transition of every job for two weeks. No TTL here, so a record stays after it has expired in its own stream,
 * followed by the expiry marker. Derived from the records, so it drops its oldest when full: refusing would stop the
 * sources, and every view with them.
 */
const events = (size: TopologySize): Config => ({
  ...common(size),
  ...unsynced(size),
  name: STREAMS.events,
  discard: DiscardPolicy.Old,
  sources: numbered(JOB_SHARDS, (shard) => ({ name: recordStream(shard) })),
  max_bytes: maxBytesOf('events', size),
  max_age: nanos(EVENTS_MAX_AGE_MS),
  max_consumers: READERS_MAX,
});

/** Where routers begin, so it is synced though it is derived: what it replaces is removed when it is there. */
const checkpoints = (size: TopologySize): Config => ({
  ...common(size),
  name: STREAMS.checkpoints,
  subjects: [`${FAMILIES.checkpoints}.>`],
  max_bytes: maxBytesOf('checkpoints', size),
  max_msgs_per_subject: 1,
  max_consumers: FEW_READERS_MAX,
});

/** Truth about what was told to whom. Large while pending, small once over. */
const deliveries = (shard: number, size: TopologySize): Config => ({
  ...common(size),
  name: deliveryStream(shard),
  subjects: [`${FAMILIES.deliveries}.${shard}.>`],
  max_bytes: maxBytesOf('deliveries', size),
  max_msgs_per_subject: 1,
  max_consumers: READERS_MAX,
  allow_msg_ttl: true,
});

/** `allow_msg_ttl` lets the trace of a deleted key go away; a rollup makes it the key's only message. */
const bucket = (name: string, size: TopologySize): Config => ({
  ...common(size),
  name: bucketStream(name),
  subjects: [bucketSubjects(name)],
  max_bytes: maxBytesOf('buckets', size),
  max_msgs_per_subject: 1,
  max_consumers: READERS_MAX,
  allow_msg_ttl: true,
  allow_rollup_hdrs: true,
});

/**
 * The facts of a shard's endpoints, one message for each group that was written together. No TTL, no rollup, no ids that
 * the broker remembers: a message goes when its owner purges it, and is refused when it is not the next of its endpoint.
 */
const logs = (shard: number, size: TopologySize): Config => ({
  ...common(size),
  name: logStream(shard),
  subjects: [logFilter(shard)],
  max_bytes: Math.floor((size.storageBytes * LOG_STORAGE_SHARES.logs) / LOG_SHARDS),
  max_consumers: READERS_MAX,
});

/** A bucket of the routers' own. What tells that a router lives goes by itself; a claim stays. */
const claims = (size: TopologySize): Config => ({
  ...bucket(CLAIMS_BUCKET, size),
  max_bytes: Math.floor(size.storageBytes * LOG_STORAGE_SHARES.claims),
});

/** The one table of streams, in the order in which they can be made. */
export function streamConfigs(part: TopologyPart, size: TopologySize): readonly Config[] {
  switch (part) {
    case 'jobs':
      return [
        ...numbered(JOB_SHARDS, (shard) => records(shard, size)),
        ...numbered(ENDPOINT_SHARDS, (shard) => tickets(shard, size)),
        ...numbered(ENDPOINT_SHARDS, (shard) => leases(shard, size)),
        ...numbered(ENDPOINT_SHARDS, (shard) => readerCursors(shard, size)),
        ...numbered(JOB_SHARDS, (shard) =>
          attachments({ name: chunkStream(shard), subjects: `${FAMILIES.chunks}.${shard}.>`, kind: 'chunks' }, size),
        ),
        ...numbered(JOB_SHARDS, (shard) =>
          attachments({ name: blobStream(shard), subjects: `${FAMILIES.blobs}.${shard}.>`, kind: 'blobs' }, size),
        ),
        ...numbered(JOB_SHARDS, (shard) => reservations(shard, size)),
        events(size),
        checkpoints(size),
        ...numbered(DELIVERY_SHARDS, (shard) => deliveries(shard, size)),
      ];
    case 'snapshots':
      return BUCKET_NAMES.map((name) => bucket(name, size));
    case 'log':
      return [...numbered(LOG_SHARDS, (shard) => logs(shard, size)), claims(size)];
  }
}
