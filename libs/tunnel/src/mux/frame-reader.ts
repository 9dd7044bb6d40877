import { decodeControl, FRAME, HEAD_BYTES, readHead, type ControlFrame } from './frame.js';

export interface FrameListener {
  /** Some bytes of a DATA frame: it may come in several pieces. They are a part of the chunk that was read. */
  data(id: number, piece: Buffer): void;
  control(frame: ControlFrame): void;
}

const NOTHING = Buffer.alloc(0);

/** Takes frames from bytes that were cut anywhere. It keeps the beginning of one head or control frame, and never DATA. */
export class FrameReader {
  readonly #listener: FrameListener;
  #rest = NOTHING;
  /** Of the DATA frame that is under way. */
  #dataLeft = 0;
  #dataId = 0;

  constructor(listener: FrameListener) {
    this.#listener = listener;
  }

  /** @throws FrameError at the first that breaks a rule; nothing is to be read after that */
  read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = NOTHING;
    let at = 0;
    while (at < bytes.length) {
      const next = this.#dataLeft > 0 ? this.#readData(bytes, at) : this.#readFrame(bytes, at);
      if (next === at) {
        // A copy: a few bytes would keep the whole chunk.
        this.#rest = Buffer.from(bytes.subarray(at));
        return;
      }
      at = next;
    }
  }

  #readData(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#dataLeft);
    this.#dataLeft -= end - at;
    this.#listener.data(this.#dataId, bytes.subarray(at, end));
    return end;
  }

  /** Where it ends; where it began if it is not all there. */
  #readFrame(bytes: Buffer, at: number): number {
    if (bytes.length - at < HEAD_BYTES) return at;
    const head = readHead(bytes, at);
    const bodyAt = at + HEAD_BYTES;
    if (head.type === FRAME.data) {
      this.#dataLeft = head.length;
      this.#dataId = head.id;
      return bodyAt;
    }
    const end = bodyAt + head.length;
    if (end > bytes.length) return at;
    this.#listener.control(decodeControl(head, bytes.subarray(bodyAt, end)));
    return end;
  }
}
