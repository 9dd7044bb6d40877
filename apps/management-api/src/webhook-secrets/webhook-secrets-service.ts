import type { WebhookSecretBody, WebhookSecretListBody } from '@berth/contracts/http';
import { PlatformError, type EndpointId } from '@berth/domain';
import type { Caller } from '@berth/http';
import type { AuditStore } from '../audit/index.js';
import type { EndpointsService } from '../endpoints/index.js';
import type { Transactions } from '../persistence/index.js';
import { webhookSecretId } from '../snapshots/index.js';
import type { WebhookSecretKeeper } from './webhook-secret-keeper.js';
import type { WebhookSecretRecord } from './webhook-secrets.store.js';

export interface WebhookSecretsServiceOptions {
  readonly endpoints: EndpointsService;
  readonly keeper: WebhookSecretKeeper;
  readonly transactions: Transactions;
  readonly audit: AuditStore;
}

/** The secrets with which receivers prove that a webhook is ours. */
export class WebhookSecretsService {
  readonly #options: WebhookSecretsServiceOptions;

  constructor(options: WebhookSecretsServiceOptions) {
    this.#options = options;
  }

  /** @throws PlatformError `endpoint-not-found`, `scope-missing` */
  list(caller: Caller, id: EndpointId): Promise<WebhookSecretListBody> {
    const { endpoints, keeper, transactions } = this.#options;
    return transactions.run(async () => {
      const records = await keeper.ensure(await endpoints.get(caller, id));
      requireFirst(records);
      return { secrets: records.map((record) => this.#bodyOf(record)) };
    });
  }

  /** @throws as `list` */
  rotate(caller: Caller, id: EndpointId): Promise<WebhookSecretBody> {
    const { audit, endpoints, keeper, transactions } = this.#options;
    return transactions.run(async () => {
      const made = requireFirst(await keeper.rotate(await endpoints.get(caller, id)));
      await audit.append({ caller, action: 'webhook-secret.rotated', resourceId: id, diff: [] });
      return this.#bodyOf(made);
    });
  }

  #bodyOf(record: WebhookSecretRecord): WebhookSecretBody {
    const { createdAtMs, expiresAtMs } = record;
    return {
      id: webhookSecretId(record),
      secret: this.#options.keeper.open(record),
      createdAt: new Date(createdAtMs).toISOString(),
      ...(expiresAtMs === null ? {} : { expiresAt: new Date(expiresAtMs).toISOString() }),
    };
  }
}

/** The endpoint may be deleted between two statements. */
function requireFirst([first]: readonly WebhookSecretRecord[]): WebhookSecretRecord {
  if (first === undefined) throw new PlatformError('endpoint-not-found', 'No such endpoint.');
  return first;
}
