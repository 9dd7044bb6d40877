import type { AssignmentSnapshot, WakeMessage } from '@berth/contracts';
import type { EndpointId, HostId } from '@berth/domain';

export interface Assignments {
  /** Each whole. An endpoint that is not named has no workers and wants none. */
  readonly snapshots: readonly AssignmentSnapshot[];
  /** Endpoints that could not be looked at: what is told of them stays. */
  readonly unknown: ReadonlySet<EndpointId>;
}

/** The way by which the loops tell routers and agents. */
export interface FleetPublisher {
  /** The assignment as the others know it; null for none. */
  assignmentOf(endpointId: EndpointId): AssignmentSnapshot | null;
  /**
   * Makes the others know these assignments; sends what differs.
   *
   * @param beforeEach called before each write; what it throws ends the publication
   */
  publishAssignments(assignments: Assignments, beforeEach: () => void): Promise<void>;
  /** Says that the control plane has just looked, whether or not anything has changed. A hint. */
  pulse(): void;
  /**
   * Hurries an agent to come and hear what is wanted of it. Losing it costs time only.
   *
   * @param message what it can do before it has asked, so that no job waits for that
   */
  wake(hostId: HostId, message: WakeMessage): void;
}
