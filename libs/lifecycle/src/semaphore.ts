/** Lets at most `max` actions run at a time, the others wait in their order. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(max: number) {
    this.#free = max;
  }

  async run<T>(action: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.#runAdmitted(action);
  }

  /** Runs the action and returns true, or does nothing and returns false where it would have to wait. */
  async tryRun(action: () => Promise<void>): Promise<boolean> {
    if (this.#free === 0) return false;
    this.#free -= 1;
    await this.#runAdmitted(action);
    return true;
  }

  /** Runs the action in its turn and returns true, or does nothing and returns false where so many wait already. */
  async runUnlessCrowded(waitingMax: number, action: () => Promise<void>): Promise<boolean> {
    if (this.#free === 0 && this.#waiting.length >= waitingMax) return false;
    await this.run(action);
    return true;
  }

  async #runAdmitted<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
