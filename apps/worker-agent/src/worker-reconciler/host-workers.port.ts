import type { DesiredWorker } from '@berth/contracts';
import type { ObservedWorker, WorkerId } from '@berth/domain';

/** All workers of this host, as the session with the control plane sees them. */
export interface HostWorkers {
  /**
   * Every worker that shall be here: what it does not name must go.
   *
   * @param isHeld says of which others it is not known what shall be: what is here of them goes on
   */
  setDesired(desired: readonly DesiredWorker[], dataCenterId: string, isHeld?: (workerId: WorkerId) => boolean): void;
  /** Those of them that are to be paused shall run, until `setDesired` says otherwise. */
  resume(workerIds: readonly WorkerId[]): void;
  /** Every worker that is here. */
  observed(): readonly ObservedWorker[];
  /** Calls `listener` when an observation changed. Returns the function that ends it. */
  subscribe(listener: () => void): () => void;
}
