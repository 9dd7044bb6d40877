export interface TurnBounds {
  /** How much may be done in one turn, in whatever the callers count. */
  readonly amountMax: number;
  /** How many of those that wait go on in one turn. */
  readonly resumedMax: number;
}

/**
 * Shares the turns of the event loop out. A source that brings a lot at once, as a local socket that delivers many megabytes in
 * one turn when it is let, keeps all else in the process waiting until the turn ends.
 */
export class TurnPace {
  readonly #bounds: TurnBounds;
  readonly #waiting: (() => void)[] = [];
  #amount = 0;
  #isCounting = false;

  constructor(bounds: TurnBounds) {
    this.#bounds = bounds;
  }

  /** Counts what was done. True when no more should be done in this turn: ask for `nextTurn`. */
  isFullWith(amount: number): boolean {
    this.#amount += amount;
    this.#awaitTurn();
    return this.#amount >= this.#bounds.amountMax;
  }

  /** Calls `goOn` in a later turn; in the order of the calls. @param goOn must not throw */
  nextTurn(goOn: () => void): void {
    this.#waiting.push(goOn);
    this.#awaitTurn();
  }

  #awaitTurn(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    setImmediate(() => {
      this.#isCounting = false;
      this.#amount = 0;
      for (const goOn of this.#waiting.splice(0, this.#bounds.resumedMax)) goOn();
      if (this.#waiting.length > 0) this.#awaitTurn();
    });
  }
}
