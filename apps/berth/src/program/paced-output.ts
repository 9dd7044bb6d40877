import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Where any number of lines go. It takes no more than its reader does, so that what is told needs no memory. */
export class PacedOutput {
  readonly #stream: Writable;
  readonly #gone = new AbortController();
  readonly #enough: AbortSignal;

  /** @param enough ends the waiting for a reader that takes nothing */
  constructor(stream: Writable, enough: AbortSignal) {
    this.#stream = stream;
    this.#enough = AbortSignal.any([this.gone, enough]);
    // A reader that has seen enough, as `head` does, is no failure of ours.
    stream.on('error', () => this.#gone.abort());
  }

  /** Aborts when nobody reads any more. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Resolves when there is room for more. */
  async write(text: string): Promise<void> {
    if (text === '' || this.gone.aborted || this.#stream.write(text) || this.#enough.aborted) return;
    await once(this.#stream, 'drain', { signal: this.#enough }).catch((error: unknown) => {
      if (!this.#enough.aborted) throw error;
    });
  }
}
