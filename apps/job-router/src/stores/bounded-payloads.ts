import { SUBMIT_FILL_MAX } from '@berth/domain';
import { Semaphore } from '@berth/lifecycle';
import type { Blobs, Chunks } from '@berth/payloads';
import type { AttachmentRooms } from '@berth/messaging';
import { storeFull } from './store-full.js';

/**
 * The payloads on their way from the broker at one time stay below the 64 MB that a server buffers for one connection
 * before it cuts it: 3 × 8 MB of whole payloads, 16 × 0.5 MB of single parts, 3 × 8 MB of chunks.
 */
const WHOLE_AT_ONCE = 3;
const PARTS_AT_ONCE = 16;
const CHUNK_READS_AT_ONCE = 3;

/** Whole payloads that are written at one time: each has 8 MB of parts under way. */
const WRITES_AT_ONCE = 4;

/** Payloads with a bound on how many are read and written at one time, for all callers together. */
export function boundedBlobs(blobs: Blobs): Blobs {
  const reads = new Semaphore(WHOLE_AT_ONCE);
  const writes = new Semaphore(WRITES_AT_ONCE);
  const parts = new Semaphore(PARTS_AT_ONCE);
  return {
    write: (key, blob, ttlMs) => writes.run(() => blobs.write(key, blob, ttlMs)),
    read: (key, manifest) => reads.run(() => blobs.read(key, manifest)),
    readPart: (key, name, part) => parts.run(() => blobs.readPart(key, name, part)),
    writePart: (key, part, ttlMs) => parts.run(() => blobs.writePart(key, part, ttlMs)),
    remove: (key, name) => blobs.remove(key, name),
  };
}

/**
 * Payloads of callers are refused while there is still room for those of hosts.
 *
 * @throws PlatformError `service-unavailable` where there is no room
 */
export const admittedBlobs = (blobs: Blobs, rooms: Pick<AttachmentRooms, 'fillOf' | 'bring'>): Blobs => ({
  ...blobs,
  write: async (key, blob, ttlMs) => {
    if (rooms.fillOf(key.jobId) >= SUBMIT_FILL_MAX) throw storeFull('blobs');
    rooms.bring(key.jobId, blob.bytes.byteLength);
    return blobs.write(key, blob, ttlMs);
  },
});

export function boundedChunks(chunks: Chunks): Chunks {
  const reads = new Semaphore(CHUNK_READS_AT_ONCE);
  return {
    append: (key, chunk, ttlMs) => chunks.append(key, chunk, ttlMs),
    read: (query) => reads.run(() => chunks.read(query)),
  };
}
