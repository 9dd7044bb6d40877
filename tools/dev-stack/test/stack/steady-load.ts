import { systemClock, systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { expect } from '@jest/globals';
import type { BalancedEndpoint, Outcome } from './balanced-endpoint.js';

const WAIT = { deadlineMs: 120_000, intervalMs: 100 };
/** Of a caller whose request failed, as callers do. */
const PAUSE_MS = 50;
const WORK_MS = 20;
const ROUTERS = 2;
const REPEATS = 100;
const NONCE_LENGTH = 20;

/**
 * `ours`: an error that says that it is not the worker's. `wrong`: anything that is neither this nor the whole answer to that
 * request, nor a connection that failed.
 */
export type Verdict =
  | { readonly kind: 'right'; readonly router: number; readonly workerId: string; readonly version: string }
  | { readonly kind: 'ours'; readonly router: number; readonly code: string; readonly workerId: string }
  | { readonly kind: 'cut'; readonly router: number }
  | { readonly kind: 'wrong'; readonly router: number; readonly outcome: Outcome };

const OUR_STATUS = new Set([502, 503]);

/** Callers that ask again and again, at each router in turn, each time for the answer to a nonce of its own. */
export class SteadyLoad {
  readonly verdicts: Verdict[] = [];
  readonly #endpoint: BalancedEndpoint;
  readonly #callers: readonly Promise<void>[];
  /** Routers that have brought a right answer to a request of this era. */
  readonly #served = new Set<number>();
  #era = 0;
  #hasEnded = false;

  constructor(endpoint: BalancedEndpoint, callers: number) {
    this.#endpoint = endpoint;
    this.#callers = Array.from({ length: callers }, (_, index) => this.#call(index));
  }

  /** Resolves when each router has brought right answers to requests that began after this was called. */
  async goesOn(): Promise<void> {
    this.#era += 1;
    this.#served.clear();
    await eventually(() => expect([...this.#served].toSorted()).toEqual([0, 1]), WAIT);
  }

  /** Resolves when each caller has had its last answer. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await Promise.all(this.#callers);
  }

  of<Kind extends Verdict['kind']>(kind: Kind): readonly Extract<Verdict, { readonly kind: Kind }>[] {
    return this.verdicts.filter((each): each is Extract<Verdict, { readonly kind: Kind }> => each.kind === kind);
  }

  async #call(first: number): Promise<void> {
    for (let turn = first; !this.#hasEnded; turn += 1) {
      const router = turn % ROUTERS;
      const nonce = systemRandom.id(NONCE_LENGTH);
      const era = this.#era;
      const body = nonce.repeat(REPEATS);
      const outcome = await this.#endpoint.ask(`/slow?ms=${WORK_MS}&nonce=${nonce}`, { router, body });
      const verdict = verdictOf(outcome, { router, nonce, body });
      this.verdicts.push(verdict);
      if (verdict.kind === 'right' && era === this.#era) this.#served.add(router);
      if (verdict.kind !== 'right') await systemClock.sleep(PAUSE_MS);
    }
  }
}

interface Asked {
  readonly router: number;
  readonly nonce: string;
  readonly body: string;
}

function verdictOf(outcome: Outcome, { body, nonce, router }: Asked): Verdict {
  if (outcome.kind === 'cut') return { kind: 'cut', router };
  const { headers, status } = outcome;
  const worker = String(headers['x-runpod-worker-id'] ?? '');
  const code = headers['x-berth-error'];
  if (status === 200 && headers['x-nonce'] === nonce && outcome.body === body && worker !== '') {
    return { kind: 'right', router, workerId: worker, version: String(headers['x-version']) };
  }
  if (OUR_STATUS.has(status) && code !== undefined)
    return { kind: 'ours', router, code: String(code), workerId: worker };
  return { kind: 'wrong', router, outcome };
}
