import type { ApiKeySnapshot, AssignmentSnapshot, EndpointSnapshot, HostSnapshot } from '@berth/contracts';
import type { EndpointId } from '@berth/domain';

/** One bucket of snapshots that the control plane writes. */
export interface Snapshots<Snapshot> {
  /** The snapshot that the watch has told; undefined where it knows of none. */
  get(key: string): Snapshot | undefined;
  /**
   * The latest version as the bucket's leader has it; null when there is none.
   *
   * @throws PlatformError `service-unavailable` when it cannot be asked
   */
  fetch(key: string): Promise<Snapshot | null>;
}

/** Everything that the control plane tells the routers. */
export interface ControlPlaneSnapshots {
  readonly endpoints: Snapshots<EndpointSnapshot>;
  readonly apiKeys: Snapshots<ApiKeySnapshot>;
  readonly hosts: Snapshots<HostSnapshot>;
  readonly assignments: Snapshots<AssignmentSnapshot>;
}

/** The endpoints that the control plane has deleted, for as long as a job of theirs could live. */
export interface DeletedEndpoints {
  list(): readonly EndpointId[];
  /** Calls `listener` whenever one more is deleted. */
  onDeleted(listener: () => void): void;
}
