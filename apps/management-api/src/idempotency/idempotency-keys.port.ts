import type { IdempotentRequest, KeptAnswer } from '@berth/http';

/** What a key was used for. The hash of the request and the body of its answer are sealed as one text. */
export interface UsedKey extends Omit<KeptAnswer, 'body'> {
  readonly sealed: string;
}

/** Who may carry out a request with a key. Everything but `prune` belongs into the transaction of the request. */
export interface IdempotencyKeys {
  /**
   * Takes the key for this request until the transaction ends, and waits while another transaction has it. Null: it is
   * taken; otherwise what it was used for.
   *
   * @throws PlatformError `idempotency-in-progress` when the other transaction does not end within `waitMs`
   */
  take(
    request: IdempotentRequest,
    limits: { readonly waitMs: number; readonly keptMs: number },
  ): Promise<UsedKey | null>;
  /** Keeps what the key that was taken was used for. */
  complete(request: IdempotentRequest, use: UsedKey): Promise<void>;
  /** Forgets keys whose time is over, at most so many. Returns their number. */
  prune(max: number): Promise<number>;
}
