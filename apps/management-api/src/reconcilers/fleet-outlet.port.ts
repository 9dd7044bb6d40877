import type { AssignmentSnapshot } from '@berth/contracts';
import type { EndpointId, HostId } from '@berth/domain';

export interface Assignments {
  /** Each whole. An endpoint that is not named has no workers. */
  readonly snapshots: readonly AssignmentSnapshot[];
  /** Endpoints that could not be looked at: what is told of them stays. */
  readonly unknown: ReadonlySet<EndpointId>;
}

/** What the loops tell others. */
export interface FleetOutlet {
  /**
   * Makes the others know these assignments; sends what differs.
   *
   * @param beforeEach called before each write; what it throws ends the publication
   */
  publishAssignments(assignments: Assignments, beforeEach: () => void): Promise<void>;
  /** Hurries an agent to come and hear what is wanted of it. Losing it costs time only. */
  wake(hostId: HostId): void;
}
