import {
  outputBlobName,
  type DownloadReply,
  type DownloadRequest,
  type ReportReply,
  type UploadRequest,
} from '@berth/contracts';
import { BLOB_PART_BYTES, PlatformError, attachmentTtlMs, type HostId } from '@berth/domain';
import type { Blobs } from '@berth/payloads';
import type { Clock } from '@berth/lifecycle';
import type { AttemptOwners } from './attempt-owners.js';

export interface PayloadPartsOptions {
  readonly owners: Pick<AttemptOwners, 'findHeld'>;
  readonly blobs: Pick<Blobs, 'readPart' | 'writePart'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Passes inputs and outputs that lie beside the log on to the holders of their attempts, and from them, part by part. */
export class PayloadParts {
  readonly #options: PayloadPartsOptions;

  constructor(options: PayloadPartsOptions) {
    this.#options = options;
  }

  /** One part of the input. Null parts tell the agent that the job is gone. */
  async download(hostId: HostId, { part, ...ref }: DownloadRequest): Promise<DownloadReply> {
    const { blobs, owners } = this.#options;
    const held = await owners.findHeld(hostId, ref);
    if (held === null) return { base64: null };
    if (held.input === null || part >= held.input.parts) {
      throw new PlatformError('invalid-fields', '$.part: the input has no such part');
    }
    const bytes = await blobs.readPart(ref, held.input.name, part);
    return { base64: bytes === null ? null : Buffer.from(bytes).toString('base64') };
  }

  /** One part of the attempt's own output. */
  async upload(hostId: HostId, { base64, part, ...ref }: UploadRequest): Promise<ReportReply> {
    const { blobs, clock, owners } = this.#options;
    const bytes = Buffer.from(base64, 'base64');
    if (bytes.byteLength > BLOB_PART_BYTES)
      throw new PlatformError('invalid-fields', '$.base64: the part is too large');
    const held = await owners.findHeld(hostId, ref);
    if (held === null) return { outcome: 'superseded' };
    const name = outputBlobName(ref.attempt);
    await blobs.writePart(ref, { name, index: part, bytes }, attachmentTtlMs(held, clock.nowMs()));
    return { outcome: 'recorded' };
  }
}
