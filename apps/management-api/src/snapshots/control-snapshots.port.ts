import type { EndpointSnapshot, HostSnapshot } from '@berth/contracts';
import type { Endpoint, EndpointId, HostId, HostIntent } from '@berth/domain';

/**
 * What the other processes are told of the control plane's state. Each of the methods that tell of changed rows is a part
 * of the transaction of the change, and throws `service-unavailable` when nobody could be told: the caller then takes its
 * own change back. After the commit, and before the transaction answers, the rows are published as they then are; where
 * that is not possible any more it is done as soon as it is, by whichever process is there.
 */
export interface ControlSnapshots {
  /** Also of deleted endpoints, which leave a tombstone: the routers end what such an endpoint still has. */
  endpointsChanged(ids: readonly EndpointId[]): Promise<void>;
  apiKeysChanged(prefixes: readonly string[]): Promise<void>;
  webhookSecretsChanged(ids: readonly EndpointId[]): Promise<void>;
  hostsChanged(ids: readonly HostId[]): Promise<void>;
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
