/** One of those that are compared. Each accepts jobs over HTTP and runs them on workers that echo their input. */
export interface Contender {
  readonly name: string;
  /** Jobs are posted to these in turn. */
  readonly targets: readonly Target[];
  /** Whose time is counted, with all processes that they have begun, by what they are. */
  readonly processes: ReadonlyMap<string, readonly number[]>;
  /** Each tells how many jobs have ended of its equal share of all. */
  readonly completed: readonly (() => Promise<number>)[];
  stop(): Promise<void>;
}

interface Target {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Jobs that run at one time, on so many workers, at each side. */
export const RUNNING = 64;
export const WORKERS = 2;
