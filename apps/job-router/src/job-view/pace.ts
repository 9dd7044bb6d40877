const WINDOW_SECONDS = 60;

export interface PaceReading {
  readonly ended: number;
  readonly executionMs: number;
}

interface Second {
  readonly second: number;
  ended: number;
  executionMs: number;
}

/** How many jobs ended within the last minute and how long they ran, by whole seconds. */
export class Pace {
  #seconds: Second[] = [];

  add(endedAtMs: number, executionMs: number): void {
    const second = Math.floor(endedAtMs / 1000);
    let entry = this.#seconds.find((each) => each.second === second);
    if (entry === undefined) {
      entry = { second, ended: 0, executionMs: 0 };
      this.#seconds.push(entry);
      this.#forgetBefore(second - WINDOW_SECONDS);
    }
    entry.ended += 1;
    entry.executionMs += executionMs;
  }

  read(nowMs: number): PaceReading {
    const oldest = Math.floor(nowMs / 1000) - WINDOW_SECONDS;
    let ended = 0;
    let executionMs = 0;
    for (const entry of this.#seconds) {
      if (entry.second <= oldest) continue;
      ended += entry.ended;
      executionMs += entry.executionMs;
    }
    return { ended, executionMs };
  }

  /** Replay brings instants out of order, so the bound is kept by number too. */
  #forgetBefore(oldest: number): void {
    this.#seconds = this.#seconds.filter(({ second }) => second > oldest).slice(-2 * WINDOW_SECONDS);
  }
}
