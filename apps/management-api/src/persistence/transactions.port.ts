/** The writes of one request, all or nothing. */
export interface Transactions {
  /**
   * Runs `action` in one transaction: every store that it calls takes part by itself, and so does a `run` inside it. After
   * anything in it has failed, nothing more can be done in it.
   *
   * @throws PlatformError `service-unavailable`, and whatever `action` throws, after everything was taken back
   */
  run<T>(action: () => Promise<T>): Promise<T>;

  /**
   * Calls `action` once the transaction that the caller is in has been committed, side by side with others and before `run`
   * answers; at once where there is none. It must not fail: what is committed stays.
   */
  afterCommit(action: () => Promise<void> | void): void;
}
