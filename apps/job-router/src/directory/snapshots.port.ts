import type { ApiKeySnapshot, AssignmentSnapshot, EndpointSnapshot, HostSnapshot } from '@berth/contracts';

/** One bucket of snapshots that the control plane writes. */
export interface Snapshots<Snapshot> {
  /** What the watch has told; undefined where it knows of none. */
  get(key: string): Snapshot | undefined;
  /**
   * The latest version as the bucket's leader has it; null when there is none.
   *
   * @throws PlatformError `service-unavailable` when it cannot be asked
   */
  fetch(key: string): Promise<Snapshot | null>;
}

/** Everything that the control plane tells the routers. */
export abstract class ControlPlaneSnapshots {
  abstract readonly endpoints: Snapshots<EndpointSnapshot>;
  abstract readonly apiKeys: Snapshots<ApiKeySnapshot>;
  abstract readonly hosts: Snapshots<HostSnapshot>;
  abstract readonly assignments: Snapshots<AssignmentSnapshot>;
}
