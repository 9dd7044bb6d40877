import type { AccountId } from '@berth/domain';

/** A request that its caller may send again. Account, route and key name it. */
export interface IdempotentRequest {
  readonly accountId: AccountId;
  /** Verb and pattern: `POST /v2/serverless`. */
  readonly route: string;
  readonly key: string;
  /** Of everything that it asks for. */
  readonly hash: string;
}

/** An answer as it is kept and sent. */
export interface KeptAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  /** Entity tag; null where the answer has none. */
  readonly tag: string | null;
}

export interface IdempotencyLedger {
  /**
   * Runs `answer` in a transaction that also keeps its answer, or gives what was kept before. When it throws, all its
   * writes are taken back and nothing is kept.
   *
   * @throws PlatformError `idempotency-key-reused` for another request under the same key, `idempotency-in-progress` when
   * the first one does not end in time; `service-unavailable`; whatever `answer` throws
   */
  once(
    request: IdempotentRequest,
    answer: () => Promise<KeptAnswer>,
  ): Promise<{ readonly answer: KeptAnswer; readonly isReplayed: boolean }>;
}
