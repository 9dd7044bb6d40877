import type { Random } from '@berth/lifecycle';

const WAIT_MIN_MS = 250;
const WAIT_SPREAD_MS = 750;
const REFUSED_WAIT_MS = 1_000;
const REFUSED_WAIT_MAX_MS = 30_000;

/**
 * How long to wait before the next try to connect. A broker that is away is looked for about twice a second. One that
 * refuses the credentials is asked less and less often: it may refuse them for ever, and each try costs it and the service that
 * decides for it.
 */
export class ReconnectPace {
  readonly #random: Random;
  /** In a row. */
  #refusals = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The broker answers, and does not let these credentials in. */
  noteRefusal(): void {
    this.#refusals += 1;
  }

  /** The connection stands, or the broker is away, which is no word about the credentials. */
  forgetRefusals(): void {
    this.#refusals = 0;
  }

  /** Spread, so that many who were cut off at once do not come back at once. */
  nextWaitMs(): number {
    const fraction = this.#random.fraction();
    if (this.#refusals === 0) return WAIT_MIN_MS + WAIT_SPREAD_MS * fraction;
    const doubledMs = REFUSED_WAIT_MS * 2 ** (this.#refusals - 1);
    return Math.min(REFUSED_WAIT_MAX_MS, doubledMs) * (0.5 + 0.5 * fraction);
  }
}
