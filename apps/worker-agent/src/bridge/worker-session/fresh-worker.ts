/** How a job came to its worker: it waited for one to start or to go on after a pause, or one was there. */
export type WorkerStart = 'cold' | 'resumed' | 'warm';

export const WORKER_STARTS: readonly WorkerStart[] = ['cold', 'resumed', 'warm'];

/**
 * Whether the next jobs of a worker are those that it was started, or resumed, for: the first that it gets since, if they
 * waited already when it came to ask. Instants are of the monotonic clock, in ms.
 */
export class FreshWorker {
  #fresh: { readonly start: WorkerStart; readonly sinceMs: number } | null = null;
  #hasAsked: boolean;

  /** @param isAdopted an earlier life of the agent started it: what its first jobs waited for is not known */
  constructor({ isAdopted }: { readonly isAdopted: boolean }) {
    this.#hasAsked = isAdopted;
  }

  noteAsking(nowMs: number): void {
    if (this.#hasAsked) return;
    this.#hasAsked = true;
    this.#fresh = { start: 'cold', sinceMs: nowMs };
  }

  /** It may be given jobs again. One that has never asked for any is still starting. */
  noteResumed(nowMs: number): void {
    if (this.#hasAsked) this.#fresh = { start: 'resumed', sinceMs: nowMs };
  }

  /** @param delaysMs how long each of the jobs has waited that come now, in one answer */
  startsOf(delaysMs: readonly number[], nowMs: number): readonly WorkerStart[] {
    const fresh = this.#fresh;
    this.#fresh = null;
    return delaysMs.map((delayMs) => (fresh !== null && nowMs - delayMs < fresh.sinceMs ? fresh.start : 'warm'));
  }
}
