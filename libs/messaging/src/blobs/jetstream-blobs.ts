import { createHash } from 'node:crypto';
import { BLOB_PART_BYTES, PlatformError, type BlobManifest, type JobKey } from '@berth/domain';
import type { Blobs } from '@berth/payloads';
import { inParallel } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { brokerUnavailable } from '../broker/broker-errors.js';
import { publishMessage } from '../broker/publish-message.js';
import { readDirect, readLatest } from '../broker/read-message.js';
import { purgeSubject } from '../broker/remove-messages.js';
import { STREAMS, blobFilter, blobPartSubject } from '../topology/subjects.js';

/** Parts on their way at the same time: 8 MB of buffers, and enough to keep a synced stream busy. */
const IN_FLIGHT_MAX = 16;

/** Payloads as binary messages of half a megabyte; the manifest in the log says what makes them whole. */
export class JetStreamBlobs implements Blobs {
  readonly #broker: Broker;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /** Whole payloads are what callers bring; what hosts bring comes in parts, and always finds room that was kept for it. */
  async write(...[key, { name, bytes }, ttlMs]: Parameters<Blobs['write']>): Promise<BlobManifest> {
    const parts = Math.max(1, Math.ceil(bytes.byteLength / BLOB_PART_BYTES));
    await inParallel(indexes(parts), IN_FLIGHT_MAX, async (index) => {
      const from = index * BLOB_PART_BYTES;
      const part = bytes.subarray(from, from + BLOB_PART_BYTES);
      await this.writePart(key, { name, index, bytes: part }, ttlMs);
    });
    return { name, parts, sizeBytes: bytes.byteLength, sha256: sha256(bytes) };
  }

  async writePart(
    key: JobKey,
    part: { readonly name: string; readonly index: number; readonly bytes: Uint8Array },
    ttlMs: number,
  ): Promise<void> {
    const outcome = await publishMessage(this.#broker, {
      subject: blobPartSubject(key, part.name, part.index),
      body: part.bytes,
      ttlMs,
    });
    if (outcome.kind === 'unknown') throw brokerUnavailable(outcome.cause);
  }

  /** From any replica first; one that has not caught up must not make a part look gone, so the leader has the last word. */
  async readPart({ endpointId, jobId }: JobKey, name: string, part: number): Promise<Uint8Array | null> {
    const subject = blobPartSubject({ endpointId, jobId }, name, part);
    const stream = STREAMS.blobs(jobId);
    const message =
      (await readDirect(this.#broker, stream, { last: subject })) ?? (await readLatest(this.#broker, stream, subject));
    return message?.body ?? null;
  }

  async read(key: JobKey, manifest: BlobManifest): Promise<Uint8Array | null> {
    const parts = await inParallel(indexes(manifest.parts), IN_FLIGHT_MAX, (index) =>
      this.readPart(key, manifest.name, index),
    );
    const present = parts.filter((part) => part !== null);
    if (present.length < manifest.parts) return null;
    const bytes = Buffer.concat(present);
    if (sha256(bytes) !== manifest.sha256) {
      throw new PlatformError('internal-error', `The stored payload of job ${key.jobId} is damaged.`);
    }
    return bytes;
  }

  async remove(key: JobKey, name: string): Promise<void> {
    await purgeSubject(this.#broker, STREAMS.blobs(key.jobId), blobFilter(key, name));
  }
}

const indexes = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
