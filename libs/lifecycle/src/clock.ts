/** Time enters the system here and nowhere else. */
export interface Clock {
  /** Unix milliseconds. */
  nowMs(): number;
  /** Milliseconds of a clock that never jumps; only differences mean something. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `act` after `ms`, unless the returned function is called before. Neither promise nor signal: for what each request waits for. */
  after(ms: number, act: () => void): () => void;
  /** Calls `tick` every `ms` until the returned function is called. */
  every(ms: number, tick: () => void): () => void;
}
