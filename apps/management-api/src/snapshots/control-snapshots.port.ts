import type { ApiKeySnapshot, EndpointSnapshot, HostSnapshot, WebhookSecretsSnapshot } from '@berth/contracts';
import type { Endpoint, EndpointId, HostId, HostIntent } from '@berth/domain';

/**
 * What the other processes are told of the control plane's state. Each method resolves when the change is stored, and
 * throws `service-unavailable` when it is not known to be: the caller then takes its own change back.
 */
export interface ControlSnapshots {
  putEndpoint(endpoint: Endpoint): Promise<void>;
  /** Leaves a tombstone: the routers end what the endpoint still has. */
  putDeletedEndpoint(endpoint: Endpoint, deletedAtMs: number): Promise<void>;
  putApiKey(key: ApiKeySnapshot): Promise<void>;
  removeApiKey(prefix: string): Promise<void>;
  putWebhookSecrets(secrets: WebhookSecretsSnapshot): Promise<void>;
  removeWebhookSecrets(id: EndpointId): Promise<void>;
  putHost(host: { readonly id: HostId; readonly intent: HostIntent }): Promise<void>;
  removeHost(id: HostId): Promise<void>;
  /** A hint to the control loops, after the change is committed. Losing it costs time only. */
  announce(endpointId: EndpointId | 'all'): void;
}

export const endpointSnapshot = (endpoint: Endpoint, deletedAtMs: number | null): EndpointSnapshot => ({
  id: endpoint.id,
  accountId: endpoint.accountId,
  type: endpoint.spec.type,
  executionTimeoutMs: endpoint.spec.executionTimeoutMs,
  workersMax: endpoint.spec.workers.max,
  isDeleted: deletedAtMs !== null,
  ...(deletedAtMs === null ? {} : { deletedAtMs }),
});

export const hostSnapshot = ({ id, intent }: { readonly id: HostId; readonly intent: HostIntent }): HostSnapshot => ({
  id,
  isDraining: intent === 'draining',
});
