import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream';
import { BUCKET_NAMES, CLAIMS_BUCKET, bucketStream, bucketSubjects } from './buckets.js';
import { ENDPOINT_SHARDS, JOB_SHARDS, LOG_SHARDS } from './shards.js';
import { FAMILIES, blobStream, chunkStream, logFilter, logStream, readerCursorStream } from './subjects.js';

export interface TopologySize {
  /** 1, or 3 where there are three brokers. */
  readonly replicas: 1 | 3;
  /**
   * The bytes that all file streams together may take; at most the broker's `max_file_store`, which counts it as
   * reserved.
   */
  readonly storageBytes: number;
  /** The same for what lies in memory: the cursors of stream readers. */
  readonly memoryBytes: number;
}

/** `jobs`: what routers write. `snapshots`: what the control plane writes. Each sets up its own. */
export type TopologyPart = 'jobs' | 'snapshots';

/**
 * How the storage is divided, by kind; every shard of a kind gets the same. Accepted jobs get most: logs, and blobs.
 * The rest of the whole is left free.
 */
export const STORAGE_SHARES = {
  jobs: { logs: 0.4, blobs: 0.33, chunks: 0.12, claims: 0.005 },
  snapshots: { buckets: 0.04 },
} as const satisfies Readonly<Record<TopologyPart, Readonly<Record<string, number>>>>;

/** The bytes of one of so many streams that have the share together. */
const maxBytesOf = (share: number, streams: number, { storageBytes }: Pick<TopologySize, 'storageBytes'>): number =>
  Math.floor((storageBytes * share) / streams);

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

/** Drops its oldest when full: the reader that has not read for longest is forgotten first, and none is refused. */
const readerCursors = (shard: number, size: TopologySize): Config => ({
  ...common(size),
  name: readerCursorStream(shard),
  subjects: [`${FAMILIES.readerCursors}.${shard}.>`],
  storage: StorageType.Memory,
  discard: DiscardPolicy.Old,
  max_bytes: Math.floor(size.memoryBytes / ENDPOINT_SHARDS),
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
  max_bytes: maxBytesOf(STORAGE_SHARES.jobs[stream.kind], JOB_SHARDS, size),
  max_msgs_per_subject: 1,
  max_consumers: FEW_READERS_MAX,
  allow_msg_ttl: true,
});

/** `allow_msg_ttl` lets the trace of a deleted key go away; a rollup makes it the key's only message. */
const bucket = (name: string, size: TopologySize): Config => ({
  ...common(size),
  name: bucketStream(name),
  subjects: [bucketSubjects(name)],
  max_bytes: maxBytesOf(STORAGE_SHARES.snapshots.buckets, BUCKET_NAMES.length, size),
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
  max_bytes: maxBytesOf(STORAGE_SHARES.jobs.logs, LOG_SHARDS, size),
  max_consumers: READERS_MAX,
});

/** A bucket of the routers' own. The sign of life of a router goes by itself; a claim stays. */
const claims = (size: TopologySize): Config => ({
  ...bucket(CLAIMS_BUCKET, size),
  max_bytes: maxBytesOf(STORAGE_SHARES.jobs.claims, 1, size),
});

const payloads = (size: TopologySize): Config[] => [
  ...numbered(JOB_SHARDS, (shard) =>
    attachments({ name: chunkStream(shard), subjects: `${FAMILIES.chunks}.${shard}.>`, kind: 'chunks' }, size),
  ),
  ...numbered(JOB_SHARDS, (shard) =>
    attachments({ name: blobStream(shard), subjects: `${FAMILIES.blobs}.${shard}.>`, kind: 'blobs' }, size),
  ),
];

/** The one table of streams, in the order in which they can be made. */
export function streamConfigs(part: TopologyPart, size: TopologySize): readonly Config[] {
  switch (part) {
    case 'jobs':
      return [
        ...numbered(LOG_SHARDS, (shard) => logs(shard, size)),
        ...numbered(ENDPOINT_SHARDS, (shard) => readerCursors(shard, size)),
        ...payloads(size),
        claims(size),
      ];
    case 'snapshots':
      return BUCKET_NAMES.map((name) => bucket(name, size));
  }
}
