import type { Clock } from '@berth/lifecycle';

export interface ReviewBudgetOptions {
  readonly perMinute: number;
  readonly clock: Clock;
}

const MINUTE_MS = 60_000;
const SHARE = 4;

/** Strangers who reach the broker can show what looks like a token, so only so many are reviewed. */
export class ReviewBudget {
  readonly #options: ReviewBudgetOptions;
  #minute = -1;
  #taken = 0;
  /** At most as many addresses as reviews in the minute. */
  readonly #takenOf = new Map<string, number>();

  constructor(options: ReviewBudgetOptions) {
    this.#options = options;
  }

  /** Takes one for whoever is at the address; false where the minute, or the address, has no more. */
  take(address: string): boolean {
    const { clock, perMinute } = this.#options;
    const minute = Math.floor(clock.monotonicMs() / MINUTE_MS);
    if (minute !== this.#minute) this.#begin(minute);
    const taken = this.#takenOf.get(address) ?? 0;
    if (this.#taken >= perMinute || taken >= perMinute / SHARE) return false;
    this.#taken += 1;
    this.#takenOf.set(address, taken + 1);
    return true;
  }

  #begin(minute: number): void {
    this.#minute = minute;
    this.#taken = 0;
    this.#takenOf.clear();
  }
}
