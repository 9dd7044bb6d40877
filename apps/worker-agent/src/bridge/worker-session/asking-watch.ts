/** Longer between two looks, and the agent itself stood still: what came meanwhile is still to be read. */
const LOOK_GAP_MAX_MS = 2_500;

/**
 * Since when a worker that could take a job has not asked for one. Looked at now and then, because only time tells that
 * nothing has come. Instants are of the monotonic clock, in ms.
 */
export class AskingWatch {
  #lookedAtMs: number;
  #askedAtMs: number;
  #resumedAtMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: number) {
    this.#lookedAtMs = nowMs;
    this.#askedAtMs = nowMs;
  }

  /** When it last had a job, or a request for one open, as far as anybody looked. */
  get askedAtMs(): number {
    return this.#askedAtMs;
  }

  /** When the agent last went on after it had stood still: nobody was heard meanwhile, so no silence is older. */
  get resumedAtMs(): number {
    return this.#resumedAtMs;
  }

  /** @param isAsking it has a job, or a request for one is open */
  look(isAsking: boolean, nowMs: number): void {
    if (nowMs - this.#lookedAtMs > LOOK_GAP_MAX_MS) this.#resumedAtMs = nowMs;
    if (isAsking || this.#resumedAtMs === nowMs) this.#askedAtMs = nowMs;
    this.#lookedAtMs = nowMs;
  }
}
