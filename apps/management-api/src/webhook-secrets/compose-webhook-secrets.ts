import type { Clock, Random } from '@berth/lifecycle';
import type { SecretBox } from '@berth/secrets';
import type { Database } from '../persistence/index.js';
import { WebhookSecretsStore } from './webhook-secrets.store.js';
import type { ControlSnapshots } from '../snapshots/index.js';
import { SecretFilling } from './secret-filling.js';
import { WebhookSecretKeeper } from './webhook-secret-keeper.js';

export interface WebhookSecretParts {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly snapshots: Pick<ControlSnapshots, 'webhookSecretsChanged'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** Makes the secrets of webhooks, for requests and for the loop that fills in missing ones. */
export function composeWebhookSecrets(parts: WebhookSecretParts): {
  readonly keeper: WebhookSecretKeeper;
  readonly filling: SecretFilling;
} {
  const { database } = parts;
  const records = new WebhookSecretsStore(database);
  const keeper = new WebhookSecretKeeper({ ...parts, records });
  return { keeper, filling: new SecretFilling({ records, keeper, transactions: database }) };
}
