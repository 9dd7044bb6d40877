/** The writes of one request, all or nothing. */
export interface Transactions {
  /**
   * Runs `action` in one transaction: every store that it calls takes part by itself, and so does a `run` inside it. After
   * anything in it has failed, nothing more can be done in it.
   *
   * @throws PlatformError `service-unavailable`, and whatever `action` throws, after everything was taken back
   */
  run<T>(action: () => Promise<T>): Promise<T>;

  /** Calls `action` once the transaction that the caller is in has been committed; at once where there is none. */
  afterCommit(action: () => void): void;
}
