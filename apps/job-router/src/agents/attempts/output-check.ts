import { createHash } from 'node:crypto';
import { outputBlobName } from '@berth/contracts';
import { BLOB_PART_BYTES, type BlobManifest, type JobKey } from '@berth/domain';
import type { Blobs } from '@berth/payloads';

/**
 * Whether the parts that an attempt uploaded are what its manifest says. They are read one by one, so the largest
 * output costs no more memory than one part.
 *
 * @returns null when they are, else what is wrong, for the job's error
 */
export async function checkOutput(
  blobs: Pick<Blobs, 'readPart'>,
  key: JobKey & { readonly attempt: number },
  { name, parts, sizeBytes, sha256 }: BlobManifest,
): Promise<string | null> {
  if (name !== outputBlobName(key.attempt)) return "it is not this attempt's";
  if (parts !== Math.max(1, Math.ceil(sizeBytes / BLOB_PART_BYTES))) return 'its size does not fit its parts';
  const hash = createHash('sha256');
  let readBytes = 0;
  for (let part = 0; part < parts; part += 1) {
    const bytes = await blobs.readPart(key, name, part);
    if (bytes === null) return `part ${part} of ${parts} is missing`;
    readBytes += bytes.byteLength;
    hash.update(bytes);
  }
  if (readBytes !== sizeBytes) return `${readBytes} bytes came instead of ${sizeBytes}`;
  return hash.digest('hex') === sha256 ? null : 'its hash differs';
}
