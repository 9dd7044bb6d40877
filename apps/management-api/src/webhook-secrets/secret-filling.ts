import type { Transactions } from '../persistence/index.js';
import type { WebhookSecretKeeper } from './webhook-secret-keeper.js';
import type { WebhookSecretsStore } from './webhook-secrets.store.js';

export interface SecretFillingOptions {
  readonly records: WebhookSecretsStore;
  readonly keeper: WebhookSecretKeeper;
  readonly transactions: Transactions;
}

/** Endpoints filled in one pass; the next goes on. */
const PASS_MAX = 100;

/** Gives a secret to endpoints that are older than secrets are; a part of each pass of the resync. */
export class SecretFilling {
  readonly #options: SecretFillingOptions;

  constructor(options: SecretFillingOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { keeper, records, transactions } = this.#options;
    for (const endpoint of await records.without(PASS_MAX)) {
      if (signal.aborted) return;
      await transactions.run(() => keeper.ensure(endpoint));
    }
  }
}
