import type { WebhookSecretsSnapshot } from '@berth/contracts';
import type { EndpointId } from '@berth/domain';

/** What the control plane tells of the secrets that sign webhooks, sealed. */
export abstract class WebhookSecretSnapshots {
  abstract get(endpointId: EndpointId): WebhookSecretsSnapshot | undefined;
  /** The latest version; null when there is none. @throws PlatformError `service-unavailable` */
  abstract fetch(endpointId: EndpointId): Promise<WebhookSecretsSnapshot | null>;
}
