import { PlatformError } from '@berth/domain';
import type { IdempotencyLedger, IdempotentRequest, KeptAnswer } from '@berth/http';
import type { SecretBox } from '@berth/secrets';
import type { Transactions } from '../persistence/index.js';
import type { IdempotencyKeysStore, UsedKey } from './idempotency-keys.store.js';

export interface RequestLedgerOptions {
  readonly keys: IdempotencyKeysStore;
  readonly transactions: Transactions;
  /**
   * For answers, because some show a secret that is nowhere else; and for the hashes of requests, because some hold a
   * secret that is weak enough to be guessed from its hash.
   */
  readonly secrets: SecretBox;
}

/** Below the time limit of a statement, so that the one who waits learns what for. */
const WAIT_MS = 8_000;
const KEPT_MS = 24 * 3_600_000;

/**
 * A request's writes and its kept answer are one transaction: there are both or neither, wherever a process dies. A
 * second request waits at the first one's row until that transaction is over.
 */
export class RequestLedger implements IdempotencyLedger {
  readonly #options: RequestLedgerOptions;

  constructor(options: RequestLedgerOptions) {
    this.#options = options;
  }

  once(
    request: IdempotentRequest,
    answer: () => Promise<KeptAnswer>,
  ): Promise<{ readonly answer: KeptAnswer; readonly isReplayed: boolean }> {
    const { keys, secrets, transactions } = this.#options;
    return transactions.run(async () => {
      const used = await keys.take(request, { waitMs: WAIT_MS, keptMs: KEPT_MS });
      if (used !== null) return { answer: this.#replay(request, used), isReplayed: true };
      const given = await answer();
      const { body, status, tag } = given;
      await keys.complete(request, { status, tag, sealed: secrets.seal(request.hash + body, contextOf(request)) });
      return { answer: given, isReplayed: false };
    });
  }

  #replay(request: IdempotentRequest, { sealed, status, tag }: UsedKey): KeptAnswer {
    const opened = this.#options.secrets.open(sealed, contextOf(request));
    if (!opened.startsWith(request.hash)) {
      throw new PlatformError('idempotency-key-reused', 'This Idempotency-Key was used for another request.');
    }
    return { status, tag, body: opened.slice(request.hash.length) };
  }
}

/** An answer opens nowhere but under its own key. */
const contextOf = ({ accountId, key, route }: IdempotentRequest): string => `idempotency:${accountId}:${route}:${key}`;
