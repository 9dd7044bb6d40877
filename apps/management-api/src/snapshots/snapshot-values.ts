import type { EndpointSnapshot, HostSnapshot } from '@berth/contracts';
import type { Endpoint, HostId, HostIntent, LimitOverrides } from '@berth/domain';

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
