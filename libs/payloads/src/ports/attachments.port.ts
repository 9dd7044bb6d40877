import type { BlobManifest, JobKey, RawJson } from '@berth/domain';

/** Payloads above the inline limit, in parts beside the log. Unreferenced ones expire. */
export interface Blobs {
  /** Writes the parts of `bytes` and returns only when the store has synced all of them. */
  write(key: JobKey, blob: { readonly name: string; readonly bytes: Uint8Array }, ttlMs: number): Promise<BlobManifest>;
  /** One part, 0-based, for relaying to an agent without holding the whole. Null when it is gone. */
  readPart(key: JobKey, name: string, part: number): Promise<Uint8Array | null>;
  /** Writes one part of a blob that an agent sends piecewise; repeating it is harmless. */
  writePart(
    key: JobKey,
    part: { readonly name: string; readonly index: number; readonly bytes: Uint8Array },
    ttlMs: number,
  ): Promise<void>;
  /**
   * The whole, verified against the manifest; null when a part is gone.
   * @throws PlatformError `internal-error` when the hash differs
   */
  read(key: JobKey, manifest: BlobManifest): Promise<Uint8Array | null>;
  /** Removes the parts of one blob; absent is success. */
  remove(key: JobKey, name: string): Promise<void>;
}

export interface Chunk {
  readonly attempt: number;
  /** 0-based within its attempt. */
  readonly index: number;
  /** The posted stream body's JSON text. */
  readonly body: RawJson;
}

/** Stream chunks of an attempt. */
export interface Chunks {
  /** Idempotent by attempt and index. */
  append(key: JobKey, chunk: Chunk, ttlMs: number): Promise<void>;
  /** Chunks of one attempt from `fromIndex` on, in order and without a gap, at most `limit`. */
  read(
    query: JobKey & { readonly attempt: number; readonly fromIndex: number; readonly limit: number },
  ): Promise<readonly Chunk[]>;
}
