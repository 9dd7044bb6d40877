import type { PullEvent } from './pull-progress.js';

/** The engine says so each second until it tries again; what it says next of the layer is that something of it comes. */
const RETRYING = /^Retrying in /;

/** The layers of a pull whose download broke off, and of which nothing has come since. */
export class BrokenDownloads {
  readonly #layers = new Set<string>();
  readonly #onChange: (isAny: boolean) => void;

  /** @param onChange told when the first of them broke off, and when the last one goes on */
  constructor(onChange: (isAny: boolean) => void) {
    this.#onChange = onChange;
  }

  take({ id, status }: Pick<PullEvent, 'id' | 'status'>): void {
    if (id === undefined || status === undefined) return;
    const wasAny = this.#layers.size > 0;
    if (RETRYING.test(status)) this.#layers.add(id);
    else this.#layers.delete(id);
    const isAny = this.#layers.size > 0;
    if (isAny !== wasAny) this.#onChange(isAny);
  }
}
