import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Where lines go. It takes no more than its reader does, so that a log of any length needs no memory. */
export class Output {
  readonly #stream: Writable;
  readonly #gone = new AbortController();

  constructor(stream: Writable) {
    this.#stream = stream;
    // A reader that has seen enough, as `head` does, is no failure of ours.
    stream.on('error', () => this.#gone.abort());
  }

  /** Aborts when nobody reads any more. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Resolves when there is room for more. */
  async write(text: string): Promise<void> {
    if (text === '' || this.gone.aborted || this.#stream.write(text)) return;
    await once(this.#stream, 'drain', { signal: this.gone }).catch((error: unknown) => {
      if (!this.gone.aborted) throw error;
    });
  }
}
