/** The code of a close frame from a server that is to be restarted (IANA, WebSocket close codes). */
const SERVICE_RESTART = 1012;

/** A whole close frame of a server, which masks nothing: "come again". */
export const SERVICE_RESTART_FRAME: Uint8Array = Uint8Array.of(0x88, 2, SERVICE_RESTART >> 8, SERVICE_RESTART & 0xff);

const CLOSE = 0x8;
const LENGTH_16 = 126;
const LENGTH_64 = 127;
const MASK_BYTES = 4;
const HEAD_MAX_BYTES = 14;

/**
 * Follows the frames of a WebSocket as they pass (RFC 6455, 5.2), so that one of our own can be put between two of them.
 * Nothing of a frame is kept but its head.
 */
export class FrameBoundaries {
  readonly #head = new Uint8Array(HEAD_MAX_BYTES);
  #headBytes = 0;
  #payloadLeft = 0;
  #hasClosed = false;

  /** No frame has begun that has not ended. */
  get isBetween(): boolean {
    return this.#headBytes === 0 && this.#payloadLeft === 0;
  }

  /** A close frame has passed, behind which nothing may follow. */
  get hasClosed(): boolean {
    return this.#hasClosed;
  }

  pass(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const taken = Math.min(this.#payloadLeft, chunk.length - at);
        this.#payloadLeft -= taken;
        at += taken;
      } else {
        this.#head[this.#headBytes] = chunk[at] ?? 0;
        this.#headBytes += 1;
        at += 1;
        if (this.#headBytes >= this.#headLength()) this.#begin();
      }
    }
  }

  #begin(): void {
    if (((this.#head[0] ?? 0) & 0x0f) === CLOSE) this.#hasClosed = true;
    this.#payloadLeft = this.#payloadLength();
    this.#headBytes = 0;
  }

  #headLength(): number {
    if (this.#headBytes < 2) return HEAD_MAX_BYTES;
    const second = this.#head[1] ?? 0;
    const mask = (second & 0x80) === 0 ? 0 : MASK_BYTES;
    return 2 + bytesOfLength(second & 0x7f) + mask;
  }

  #payloadLength(): number {
    const short = (this.#head[1] ?? 0) & 0x7f;
    const bytes = bytesOfLength(short);
    if (bytes === 0) return short;
    return this.#head.subarray(2, 2 + bytes).reduce((sum, byte) => sum * 256 + byte, 0);
  }
}

function bytesOfLength(short: number): 0 | 2 | 8 {
  if (short === LENGTH_16) return 2;
  return short === LENGTH_64 ? 8 : 0;
}
