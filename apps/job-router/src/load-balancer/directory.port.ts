import type { AssignmentSnapshot, EndpointSnapshot } from '@berth/contracts';
import type { EndpointId, KeyGrant, Scope } from '@berth/domain';

/** What the room needs to know of the control plane. */
export interface LoadBalancerDirectory {
  /** As this router knows it at this instant; null: not at all. */
  knownEndpoint(endpointId: EndpointId): EndpointSnapshot | null;
  /** @throws PlatformError `endpoint-not-found`, `scope-missing`, `service-unavailable` */
  authorize(caller: KeyGrant, endpointId: string, scope: Scope): Promise<EndpointSnapshot>;
  /** As this router knows it at this instant; null: there is none. */
  assignmentOf(endpointId: EndpointId): AssignmentSnapshot | null;
  /** Reads it anew, so that memory is as the control plane is now. @throws PlatformError `service-unavailable` */
  refreshAssignment(endpointId: EndpointId): Promise<void>;
}
