import type { StreamConfig } from '@nats-io/jetstream';
import { CLAIMS_BUCKET, bucketStream } from '../topology/buckets.js';
import { JOB_SHARDS, LOG_SHARDS } from '../topology/shards.js';
import { streamConfigs, type TopologySize } from '../topology/streams.js';
import { blobStream, chunkStream, logStream } from '../topology/subjects.js';

const numbered = (count: number, name: (shard: number) => string): string[] =>
  Array.from({ length: count }, (_, shard) => name(shard));

/** Which jobs there are, and what has become of them: the truth. */
export const COPIED_LOGS: readonly string[] = numbered(LOG_SHARDS, logStream);

/** What lies beside the logs: the truth as well, where a fact names it. */
export const COPIED_PAYLOADS: readonly string[] = [
  ...numbered(JOB_SHARDS, blobStream),
  ...numbered(JOB_SHARDS, chunkStream),
];

/** The bucket of who owns which shard. Owners end with their processes, so only the terms are kept. */
export const CLAIMS_STREAM = bucketStream(CLAIMS_BUCKET);

/** How an installation of that size has one of the streams of jobs. */
export function jobStreamConfig(
  name: string,
  size: Pick<TopologySize, 'replicas' | 'storageBytes'>,
): Partial<StreamConfig> & Pick<StreamConfig, 'name'> {
  // What lies in memory is none of these.
  const config = streamConfigs('jobs', { ...size, memoryBytes: 0 }).find((each) => each.name === name);
  if (config === undefined) throw new RangeError(`no stream of jobs: ${name}`);
  return config;
}
