/** Small pieces are put together in blocks of this size. */
const BLOCK_BYTES = 64 * 1024;
/** A piece of this size is a block of its own, where its memory is its own. */
const WHOLE_PIECE_BYTES = 16 * 1024;

/**
 * Collects a body as it arrives, in blocks that can be handed to a thread. Large pieces are not copied: joining many
 * megabytes would keep everybody else waiting.
 */
export class ByteBlocks {
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  #open: Uint8Array<ArrayBuffer> | null = null;
  #openBytes = 0;

  add(piece: Buffer): void {
    const isOwn = piece.buffer instanceof ArrayBuffer && piece.buffer.byteLength === piece.byteLength;
    if (isOwn && piece.byteLength >= WHOLE_PIECE_BYTES) {
      this.#close();
      this.#blocks.push(new Uint8Array(piece.buffer));
      return;
    }
    for (let at = 0; at < piece.byteLength;) at += this.#copy(piece.subarray(at));
  }

  /** All that came, in order; each block has its memory to itself. */
  take(): readonly Uint8Array<ArrayBuffer>[] {
    this.#close();
    return this.#blocks.splice(0);
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#open = null;
    this.#openBytes = 0;
  }

  /** Returns how much of it there was room for. */
  #copy(piece: Uint8Array): number {
    this.#open ??= new Uint8Array(BLOCK_BYTES);
    const part = piece.subarray(0, BLOCK_BYTES - this.#openBytes);
    this.#open.set(part, this.#openBytes);
    this.#openBytes += part.byteLength;
    if (this.#openBytes === BLOCK_BYTES) this.#close();
    return part.byteLength;
  }

  #close(): void {
    if (this.#open !== null) this.#blocks.push(this.#open.subarray(0, this.#openBytes));
    this.#open = null;
    this.#openBytes = 0;
  }
}
