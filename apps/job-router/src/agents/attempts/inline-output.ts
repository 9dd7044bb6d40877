import { createHash } from 'node:crypto';
import { OUTPUT_MAX_BYTES, attachmentTtlMs, type BlobManifest, type JobKey, type Payload } from '@berth/domain';
import type { Blobs } from '@berth/payloads';

type InlineOutput = Extract<Payload, { readonly kind: 'inline' }>;

/** An output as it stands in a fact, and how much it is. */
export interface StoredOutput {
  readonly output: Payload;
  readonly outputBytes: number;
}

/** Whether an output that came in one message is too large for a log, and is to lie beside it. */
export const isBesideLog = ({ json }: InlineOutput): boolean => Buffer.byteLength(json) > OUTPUT_MAX_BYTES;

export const storedAs = (output: Payload): StoredOutput => ({
  output,
  outputBytes: output.kind === 'inline' ? Buffer.byteLength(output.json) : output.manifest.sizeBytes,
});

/**
 * Writes an output that came in one message beside the log: it has room in one part. Outputs that hosts bring had their
 * room kept when their jobs were accepted, so this one is written like the parts that hosts send.
 */
export async function storeBesideLog(
  blobs: Pick<Blobs, 'writePart'>,
  { json }: InlineOutput,
  place: JobKey & { readonly name: string; readonly createdAtMs: number; readonly nowMs: number },
): Promise<StoredOutput> {
  const { endpointId, jobId, name, nowMs } = place;
  const bytes = Buffer.from(json);
  const manifest: BlobManifest = { name, parts: 1, sizeBytes: bytes.byteLength, sha256: sha256(bytes) };
  await blobs.writePart({ endpointId, jobId }, { name, index: 0, bytes }, attachmentTtlMs(place, nowMs));
  return { output: { kind: 'blob', manifest }, outputBytes: manifest.sizeBytes };
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
