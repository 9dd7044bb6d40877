/** Small pieces are put together in blocks: the first is of the one size, each further one twice as large, up to the other. */
const FIRST_BLOCK_BYTES = 1024;
const BLOCK_MAX_BYTES = 64 * 1024;
/** A piece of this size is a block of its own, where its memory is its own. */
const WHOLE_PIECE_BYTES = 16 * 1024;

/**
 * Collects a body as it arrives, in blocks that can be handed to a thread. A piece costs some 650 bytes beside its
 * content for as long as it is kept, and its sender says how small it is: so small ones are copied and let go. Large
 * ones are not copied: joining many megabytes would keep everybody else waiting.
 */
export class ByteBlocks {
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  #open: Uint8Array<ArrayBuffer> | null = null;
  #openBytes = 0;
  #nextBlockBytes = FIRST_BLOCK_BYTES;

  /** @returns bytes of memory that were set aside for it: none where there was room, more than it has where there was not */
  add(piece: Buffer): number {
    const isOwn = piece.buffer instanceof ArrayBuffer && piece.buffer.byteLength === piece.byteLength;
    if (isOwn && piece.byteLength >= WHOLE_PIECE_BYTES) {
      this.#close();
      this.#nextBlockBytes = FIRST_BLOCK_BYTES;
      this.#blocks.push(new Uint8Array(piece.buffer));
      return piece.byteLength;
    }
    let setAsideBytes = 0;
    for (let at = 0; at < piece.byteLength;) {
      setAsideBytes += this.#openBlock();
      at += this.#copy(piece.subarray(at));
    }
    return setAsideBytes;
  }

  /** All that came, in order; each block has its memory to itself. */
  take(): readonly Uint8Array<ArrayBuffer>[] {
    this.#close();
    this.#nextBlockBytes = FIRST_BLOCK_BYTES;
    return this.#blocks.splice(0);
  }

  clear(): void {
    this.take();
  }

  #openBlock(): number {
    if (this.#open !== null) return 0;
    this.#open = new Uint8Array(this.#nextBlockBytes);
    this.#nextBlockBytes = Math.min(2 * this.#nextBlockBytes, BLOCK_MAX_BYTES);
    return this.#open.byteLength;
  }

  /** Returns how much of it there was room for. */
  #copy(piece: Uint8Array): number {
    if (this.#open === null) return 0;
    const part = piece.subarray(0, this.#open.byteLength - this.#openBytes);
    this.#open.set(part, this.#openBytes);
    this.#openBytes += part.byteLength;
    if (this.#openBytes === this.#open.byteLength) this.#close();
    return part.byteLength;
  }

  #close(): void {
    if (this.#open !== null) this.#blocks.push(this.#open.subarray(0, this.#openBytes));
    this.#open = null;
    this.#openBytes = 0;
  }
}
