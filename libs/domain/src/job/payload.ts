import type { RawJson } from '../json/index.js';

/** Where the parts of a payload above the inline limit lie, and how to know that they are whole. */
export interface BlobManifest {
  /** Distinguishes the writers of one direction: `in`, or `out` and the attempt that wrote it. */
  readonly name: string;
  readonly parts: number;
  readonly sizeBytes: number;
  /** Lower-case hex over the UTF-8 bytes of the JSON text. */
  readonly sha256: string;
}

/** A JSON value, either inside the log or as parts beside it. */
export type Payload =
  { readonly kind: 'inline'; readonly json: RawJson } | { readonly kind: 'blob'; readonly manifest: BlobManifest };

/** Above these sizes a payload lies beside the log. */
export const INLINE_INPUT_MAX_BYTES = 64 * 1024;
export const INLINE_OUTPUT_MAX_BYTES = 256 * 1024;

/**
 * Bytes that the members of a job request beside its input may take: they lie in the log, whose batches are small, so
 * that what is large belongs into the input.
 */
export const EXTRAS_MAX_BYTES = 64 * 1024;

/** Requests that one `/run-batch` may hold (API decisions 2.1). */
export const BATCH_REQUESTS_MAX = 1_000;

/** Raw bytes of one part: with its envelope it stays below the broker's message limit. */
export const BLOB_PART_BYTES = 512 * 1024;

/** Largest stream chunk (API decisions 2.1). */
export const CHUNK_MAX_BYTES = 1_000_000;
