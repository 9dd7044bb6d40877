import type { EndpointSnapshot, HostSnapshot } from '@berth/contracts';
import type { AccountId, Endpoint, EndpointId, HostId, HostIntent, LimitOverrides } from '@berth/domain';

/**
 * What the other processes are told of the control plane's state. Each of the methods that tell of changed rows is a part
 * of the transaction of the change, and throws `service-unavailable` when nobody could be told: the caller then takes its
 * own change back. After the commit, and before the transaction answers, the rows are published as they then are; where
 * that is not possible any more it is done as soon as it is, by whichever process is there.
 */
export interface ControlSnapshots {
  /** Also of deleted endpoints, which leave a tombstone: the routers end what such an endpoint still has. */
  endpointsChanged(ids: readonly EndpointId[]): Promise<void>;
  /**
   * Of what all its endpoints have from the account. Before the answer the first of them are published, in one step of a
   * bounded number; the rest follows, step by step, by whichever processes are there.
   */
  accountChanged(id: AccountId): Promise<void>;
  apiKeysChanged(prefixes: readonly string[]): Promise<void>;
  webhookSecretsChanged(ids: readonly EndpointId[]): Promise<void>;
  hostsChanged(ids: readonly HostId[]): Promise<void>;
  /** A hint to the control loops, after the change is committed. Losing it costs time only. */
  announce(endpointId: EndpointId | 'all'): void;
}

/** @param limits of the endpoint's account, as an operator has set them */
export const endpointSnapshot = (endpoint: Endpoint, limits: LimitOverrides): EndpointSnapshot => ({
  ...endpointFacts(endpoint),
  isDeleted: false,
  ...(Object.keys(limits).length === 0 ? {} : { limits }),
});

/** What is left of a deleted endpoint. Nobody decides anything by its limits any more. */
export const endpointTombstone = (endpoint: Endpoint, deletedAtMs: number): EndpointSnapshot => ({
  ...endpointFacts(endpoint),
  isDeleted: true,
  deletedAtMs,
});

const endpointFacts = (endpoint: Endpoint) => ({
  id: endpoint.id,
  accountId: endpoint.accountId,
  type: endpoint.spec.type,
  executionTimeoutMs: endpoint.spec.executionTimeoutMs,
  workersMax: endpoint.spec.workers.max,
});

export const hostSnapshot = ({ id, intent }: { readonly id: HostId; readonly intent: HostIntent }): HostSnapshot => ({
  id,
  isDraining: intent === 'draining',
});
