/** Questions that are answered or held at a time, of all accounts and of one. */
const QUESTIONS_MAX = 512;
const ACCOUNT_QUESTIONS_MAX = 64;

/** Places for questions about logs: an account that reads more than its share takes none from others. */
export class QuestionPlaces {
  readonly #taken = new Map<string, number>();
  #takenTotal = 0;

  /** Null where there is none for this account; else what gives the place back. */
  take(accountId: string): (() => void) | null {
    const taken = this.#taken.get(accountId) ?? 0;
    if (taken >= ACCOUNT_QUESTIONS_MAX || this.#takenTotal >= QUESTIONS_MAX) return null;
    this.#taken.set(accountId, taken + 1);
    this.#takenTotal += 1;
    return () => {
      const left = (this.#taken.get(accountId) ?? 1) - 1;
      if (left === 0) this.#taken.delete(accountId);
      else this.#taken.set(accountId, left);
      this.#takenTotal -= 1;
    };
  }
}
