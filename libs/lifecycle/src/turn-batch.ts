/**
 * Runs what was added during one turn of the event loop together at its end, in order. For writes to one socket: those
 * that are made at once leave in one call of the system.
 */
export class TurnBatch {
  #actions: (() => void)[] = [];

  /** @param action must not throw */
  add(action: () => void): void {
    if (this.#actions.length === 0) setImmediate(() => this.#run());
    this.#actions.push(action);
  }

  #run(): void {
    const actions = this.#actions;
    this.#actions = [];
    for (const action of actions) action();
  }
}
