import type { Clock } from '@berth/lifecycle';
import { WorkerTokens } from './worker-tokens.js';

const KEPT_MS = 10 * 60_000;
const KEPT_MAX = 1_000;

/** Tokens of workers that are gone: a last word of theirs is answered with 200 and dropped, not refused. */
export class DepartedWorkers {
  readonly #clock: Clock;
  readonly #tokens = new WorkerTokens<true>();
  readonly #order: { readonly token: string; readonly untilMs: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(token: string): void {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens.add(token, true);
    this.#order.push({ token, untilMs: nowMs + KEPT_MS });
    while (this.#order.length > KEPT_MAX || (this.#order[0]?.untilMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
      const oldest = this.#order.shift();
      if (oldest !== undefined) this.#tokens.remove(oldest.token);
    }
  }

  has(authorization: string | undefined): boolean {
    return this.#tokens.find(authorization) !== null;
  }
}
