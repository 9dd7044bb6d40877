import { ReceiveWindow } from './credit.js';
import { FrameError } from './frame-error.js';

interface LeftStream {
  readonly window: ReceiveWindow;
  /** This side had said all before it left. */
  readonly hasEnded: boolean;
  wasEnded: boolean;
}

/**
 * Streams that this side has reset. What the other side sent before it heard of that still comes: it is dropped, within the
 * window that it had. A stream is gone when the other side has reset it too, or when both had ended it.
 */
export class LeftStreams {
  readonly #streams = new Map<number, LeftStream>();

  get count(): number {
    return this.#streams.size;
  }

  has(id: number): boolean {
    return this.#streams.has(id);
  }

  add(
    id: number,
    { hasEnded = false, wasEnded = false, window = new ReceiveWindow() }: Partial<LeftStream> = {},
  ): void {
    this.#streams.set(id, { window, hasEnded, wasEnded });
  }

  drop(id: number): boolean {
    return this.#streams.delete(id);
  }

  /** False: there is none of that number. @throws FrameError where it might not send them */
  took(id: number, bytes: number): boolean {
    const stream = this.#streams.get(id);
    if (stream?.wasEnded === true) throw new FrameError('bytes after the end of a stream');
    stream?.window.take(bytes);
    return stream !== undefined;
  }

  /** False: there is none of that number. @throws FrameError where it had ended before */
  ended(id: number): boolean {
    const stream = this.#streams.get(id);
    if (stream === undefined) return false;
    if (stream.wasEnded) throw new FrameError('a second end of a stream');
    stream.wasEnded = true;
    // The other side has nothing left of it that it could reset.
    if (stream.hasEnded) this.#streams.delete(id);
    return true;
  }
}
