interface Turn<Item> {
  readonly items: Item[];
  readonly done: Promise<void>;
}

/**
 * Has one turn of a key under way at one time. Calls that come meanwhile are collected, and are one turn together once that is
 * over: for work that does for many what it does for one, if only it begins after they came.
 */
export class KeyedCoalescer<Item> {
  readonly #act: (items: readonly Item[]) => Promise<void>;
  readonly #running = new Map<string, Promise<void>>();
  readonly #next = new Map<string, Turn<Item>>();

  constructor(act: (items: readonly Item[]) => Promise<void>) {
    this.#act = act;
  }

  /** Resolves, or rejects, with a turn that began after the call. */
  take(key: string, items: readonly Item[]): Promise<void> {
    const next = this.#next.get(key);
    if (next !== undefined) {
      next.items.push(...items);
      return next.done;
    }
    const running = this.#running.get(key);
    if (running === undefined) return this.#begin(key, items);
    const collected = [...items];
    const begin = (): Promise<void> => {
      this.#next.delete(key);
      return this.#begin(key, collected);
    };
    // Whether the one before failed is told to those who took part in it.
    const done = running.then(begin, begin);
    this.#next.set(key, { items: collected, done });
    return done;
  }

  #begin(key: string, items: readonly Item[]): Promise<void> {
    const run = this.#act(items).finally(() => {
      if (this.#running.get(key) === run) this.#running.delete(key);
    });
    this.#running.set(key, run);
    return run;
  }
}
