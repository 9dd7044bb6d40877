import { createHash } from 'node:crypto';
import { BLOB_PART_BYTES, PlatformError, type BlobManifest, type JobKey } from '@berth/domain';
import type { Blobs, Chunk, Chunks } from '@berth/payloads';
import type { Clock } from '@berth/lifecycle';
import { ExpiringValues } from './expiring-values.js';

const jobName = ({ endpointId, jobId }: JobKey): string => `${endpointId}/${jobId}`;

const attemptName = (key: JobKey, attempt: number): string => `${jobName(key)}/${attempt}`;

const partName = (key: JobKey, name: string, part: number): string => `${jobName(key)}/${name}/${part}`;

/** Payloads and chunks in memory. The conformance suites hold them to what a real broker does. */
export class ModelPayloads {
  readonly blobs: Blobs;
  readonly chunks: Chunks;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.blobs = modelBlobs(new ExpiringValues(clock));
    this.chunks = modelChunks(new ExpiringValues(clock));
  }
}

const modelBlobs = (parts: ExpiringValues<Uint8Array>): Blobs => ({
  write: async (key, { name, bytes }, ttlMs) => {
    const manifest = manifestOf(name, bytes);
    for (let part = 0; part < manifest.parts; part += 1) {
      const from = part * BLOB_PART_BYTES;
      parts.set(partName(key, name, part), bytes.slice(from, from + BLOB_PART_BYTES), ttlMs);
    }
    return manifest;
  },
  readPart: async (key, name, part) => parts.get(partName(key, name, part))?.value ?? null,
  writePart: async (key, { name, index, bytes }, ttlMs) => {
    parts.set(partName(key, name, index), bytes, ttlMs);
  },
  read: async (key, manifest) => {
    const found = Array.from(
      { length: manifest.parts },
      (_, part) => parts.get(partName(key, manifest.name, part))?.value,
    ).filter((part) => part !== undefined);
    if (found.length < manifest.parts) return null;
    const bytes = Buffer.concat(found);
    if (manifestOf(manifest.name, bytes).sha256 === manifest.sha256) return bytes;
    throw new PlatformError('internal-error', `The parts of ${manifest.name} do not match their hash.`);
  },
  remove: async (key, name) => parts.removeBelow(`${jobName(key)}/${name}`),
});

const modelChunks = (chunks: ExpiringValues<Chunk>): Chunks => ({
  append: async (key, chunk, ttlMs) => {
    const name = `${attemptName(key, chunk.attempt)}/${chunk.index}`;
    if (chunks.get(name) === null) chunks.set(name, chunk, ttlMs);
  },
  read: async ({ attempt, fromIndex, limit, ...key }) => {
    const found: Chunk[] = [];
    for (let index = fromIndex; found.length < limit; index += 1) {
      const chunk = chunks.get(`${attemptName(key, attempt)}/${index}`);
      if (chunk === null) break;
      found.push(chunk.value);
    }
    return found;
  },
});

const manifestOf = (name: string, bytes: Uint8Array): BlobManifest => ({
  name,
  parts: Math.max(1, Math.ceil(bytes.byteLength / BLOB_PART_BYTES)),
  sizeBytes: bytes.byteLength,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});
