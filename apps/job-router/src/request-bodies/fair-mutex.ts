/** Runs one action at a time. Owners take turns, and what one owner asks for runs in its order. */
export class FairMutex {
  /** Owner → its actions that wait; none that has none. The first owner has waited longest since its last turn. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #last: string | null = null;
  #isBusy = false;

  async run<T>(owner: string, action: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await this.#turnOf(owner);
    this.#isBusy = true;
    this.#last = owner;
    try {
      return await action();
    } finally {
      this.#pass();
    }
  }

  #turnOf(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(owner);
      if (queue === undefined) this.#waiting.set(owner, [resolve]);
      else queue.push(resolve);
    });
  }

  /** To another owner than the one before wherever one waits. */
  #pass(): void {
    const owners = [...this.#waiting.keys()];
    const owner = owners.find((each) => each !== this.#last) ?? owners[0];
    const [next, ...others] = (owner !== undefined && this.#waiting.get(owner)) || [];
    if (owner === undefined || next === undefined) {
      this.#isBusy = false;
      return;
    }
    this.#waiting.delete(owner);
    if (others.length > 0) this.#waiting.set(owner, others);
    next();
  }
}
