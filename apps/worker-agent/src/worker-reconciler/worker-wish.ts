import type { DesiredWorker } from '@berth/contracts';

/** What is wanted of one worker, as last heard. */
export interface Wish {
  /** Null: the control plane does not list it. */
  readonly assigned: DesiredWorker | null;
  /** True once a complete list has come in this agent's life. */
  readonly isSynced: boolean;
  /** The agent itself goes and takes its workers along. */
  readonly mustLeave: boolean;
  /** Where its host stands. */
  readonly dataCenterId: string;
}

/** Holds the present wish, and ends what is done for a worker only as long as that shall run. */
export class PresentWish {
  #now: Wish;
  #wanting = new AbortController();
  #isEnded = false;

  constructor(wish: Wish) {
    this.#now = wish;
    this.#tell();
  }

  get now(): Wish {
    return this.#now;
  }

  /** Aborts once the worker shall not run, or nobody here looks after it any more; a later wish that it run has a new one. */
  get signal(): AbortSignal {
    return this.#wanting.signal;
  }

  /** False where that was known already. */
  set(wish: Wish): boolean {
    const isNews = JSON.stringify(wish) !== JSON.stringify(this.#now);
    this.#now = wish;
    this.#tell();
    return isNews;
  }

  /** The agent ends: whatever is wanted is for the next one. */
  end(): void {
    this.#isEnded = true;
    this.#tell();
  }

  #tell(): void {
    if (this.#isEnded || !shallRun(this.#now)) this.#wanting.abort();
    else if (this.#wanting.signal.aborted) this.#wanting = new AbortController();
  }
}

const shallRun = ({ assigned, mustLeave }: Wish): boolean => !mustLeave && assigned?.intent === 'running';
