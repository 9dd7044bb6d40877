const WINDOW_SECONDS = 60;

/** Ends within one whole second, and how long the jobs had run, in ms. */
export type PaceSecond = readonly [second: number, ended: number, executionMs: number];

/** How many jobs ended within the last minute and how long they ran, by whole seconds. Instants never go back. */
export class CompletionWindow {
  #seconds: PaceSecond[] = [];

  add(endedAtMs: number, executionMs: number): void {
    const second = Math.floor(endedAtMs / 1000);
    const last = this.#seconds.at(-1);
    if (last?.[0] === second) this.#seconds[this.#seconds.length - 1] = [second, last[1] + 1, last[2] + executionMs];
    else this.#seconds.push([second, 1, executionMs]);
    while ((this.#seconds[0]?.[0] ?? second) <= second - WINDOW_SECONDS) this.#seconds.shift();
  }

  read(nowMs: number): { readonly ended: number; readonly executionMs: number } {
    const oldest = Math.floor(nowMs / 1000) - WINDOW_SECONDS;
    let ended = 0;
    let executionMs = 0;
    for (const [second, count, ms] of this.#seconds) {
      if (second <= oldest) continue;
      ended += count;
      executionMs += ms;
    }
    return { ended, executionMs };
  }

  seconds(): readonly PaceSecond[] {
    return [...this.#seconds];
  }

  restore(seconds: readonly PaceSecond[]): void {
    this.#seconds = [...seconds];
  }
}
