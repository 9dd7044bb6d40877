import { createHmac } from 'node:crypto';
import { webhookSecretContext, type WebhookSecretsSnapshot } from '@berth/contracts';
import {
  WEBHOOK_SECRET_PREFIX,
  signatureHeader,
  signedPrefix,
  webhookMessageId,
  type DeliveryKey,
  type EndpointId,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { SecretBox } from '@berth/secrets';
import type { Snapshots } from '../directory/index.js';

export interface WebhookSignerOptions {
  /** Of the endpoint of that id. */
  readonly snapshots: Snapshots<WebhookSecretsSnapshot>;
  readonly secrets: SecretBox;
  readonly clock: Clock;
}

/** Signs by the Standard Webhooks rules, with every secret of the endpoint that is valid now. */
export class WebhookSigner {
  readonly #options: WebhookSignerOptions;

  constructor(options: WebhookSignerOptions) {
    this.#options = options;
  }

  /**
   * The keys that sign for an endpoint, newest first; empty where the control plane has told none yet.
   *
   * @throws SecretError when one cannot be opened
   * @throws PlatformError `service-unavailable`
   */
  async keysOf(endpointId: EndpointId): Promise<readonly Buffer[]> {
    const { snapshots, secrets, clock } = this.#options;
    const snapshot = snapshots.get(endpointId) ?? (await snapshots.fetch(endpointId));
    const nowMs = clock.nowMs();
    return (snapshot?.secrets ?? [])
      .filter(({ expiresAtMs }) => expiresAtMs === null || nowMs < expiresAtMs)
      .map(({ id, sealed }) => keyOf(secrets.open(sealed, webhookSecretContext(endpointId, id))));
  }

  headers(key: DeliveryKey, body: Buffer, keys: readonly Buffer[]): Record<string, string> {
    const id = webhookMessageId(key);
    const atSeconds = Math.floor(this.#options.clock.nowMs() / 1000);
    const prefix = signedPrefix(id, atSeconds);
    const signatures = keys.map((each) => createHmac('sha256', each).update(prefix).update(body).digest('base64'));
    return {
      'webhook-id': id,
      'webhook-timestamp': `${atSeconds}`,
      'webhook-signature': signatureHeader(signatures),
    };
  }
}

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64');
