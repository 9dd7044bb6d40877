import type { EndpointId } from '@berth/domain';

/** The endpoints that the control plane has deleted, for as long as a job of theirs could live. */
export interface DeletedEndpoints {
  list(): readonly EndpointId[];
  /** Calls `listener` whenever one more is deleted. */
  onDeleted(listener: () => void): void;
}
