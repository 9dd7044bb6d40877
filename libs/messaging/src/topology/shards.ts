import type { EndpointId, JobId } from '@berth/domain';

/**
 * How many streams each family has. A stream of one replica syncs once per message, so payloads spread over many, by the
 * job's id: one hot endpoint reaches the whole disk. The cursors of readers lie by endpoint. A change of these numbers
 * makes every stored subject wrong.
 */
export const JOB_SHARDS = 16;
export const ENDPOINT_SHARDS = 4;
/** A log lies whole in one stream, and the owner of a shard writes all of it. */
export const LOG_SHARDS = 16;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a over the UTF-16 units, folded to its low half: stable for ever, since it decides where stored data lie. */
export function stableHash(text: string): number {
  let hash = FNV_OFFSET;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  }
  return (hash ^ (hash >>> 16)) & 0xffff;
}

export const jobShard = (jobId: JobId): number => stableHash(jobId) % JOB_SHARDS;

export const endpointShard = (endpointId: EndpointId): number => stableHash(endpointId) % ENDPOINT_SHARDS;

export const logShard = (endpointId: EndpointId): number => stableHash(endpointId) % LOG_SHARDS;
