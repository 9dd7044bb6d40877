import { FrameError } from './frame-error.js';

/** Of one stream and each direction: what is on its way and not yet read. */
export const STREAM_WINDOW_BYTES = 256 * 1_024;

/** What one side of a stream may still send. */
export class SendCredit {
  #bytes = STREAM_WINDOW_BYTES;

  get bytes(): number {
    return this.#bytes;
  }

  /** @param bytes no more than there are */
  spend(bytes: number): void {
    this.#bytes -= bytes;
  }

  /** @throws FrameError where the other side gives nothing, or more than was ever sent */
  add(bytes: number): void {
    if (bytes < 1 || this.#bytes + bytes > STREAM_WINDOW_BYTES) throw new FrameError('a window beyond its bound');
    this.#bytes += bytes;
  }
}

/** What one side of a stream still takes, and what it gives back of that. */
export class ReceiveWindow {
  /** That the other side may send. */
  #left = STREAM_WINDOW_BYTES;

  /** @throws FrameError where the other side sends more than it may */
  take(bytes: number): void {
    if (bytes > this.#left) throw new FrameError('more bytes than the window of a stream has');
    this.#left -= bytes;
  }

  /**
   * What to give back now, where it is worth a frame; 0 else. It counts as given.
   *
   * @param waiting bytes that were taken and not read yet
   */
  give(waiting: number): number {
    const read = STREAM_WINDOW_BYTES - this.#left - waiting;
    if (read < STREAM_WINDOW_BYTES / 2) return 0;
    this.#left += read;
    return read;
  }
}
