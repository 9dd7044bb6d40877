import type { EndpointId, JobKey } from '@berth/domain';

/** A ticket that waits, without its content. */
export interface WaitingTicket extends JobKey {
  readonly attempt: number;
  readonly isLowPriority: boolean;
}

/** A job, or one attempt of it, that has payload parts or stream chunks. */
export interface Attachment extends JobKey {
  /** Null: parts of payloads, which belong to the whole job. */
  readonly attempt: number | null;
}

/** What lies in the store, listed without reading it: one that comes or goes meanwhile may be missed. */
export interface StoreSurvey {
  tickets(): AsyncIterable<WaitingTicket>;
  /** Of one attempt; false may be out of date. */
  hasTicket(ticket: WaitingTicket): Promise<boolean>;
  attachments(): AsyncIterable<Attachment>;
  /** Removes everything of an endpoint, whatever it is, and returns how much there was. */
  purgeEndpoint(endpointId: EndpointId): Promise<number>;
}

/** What is known of every lease without asking. */
export interface LeaseOutlook {
  stateOf(key: JobKey & { readonly attempt: number }): 'live' | 'expired' | 'unseen';
  /** Since when the knowledge is whole; Unix ms. While it is not, this is now. */
  readonly lastResetAtMs: number;
  /** Calls `listener` whenever the broker says that a lease has run out. */
  onExpired(listener: () => void): void;
}

/** Endpoints whose deletion the control plane has announced. */
export interface DeletedEndpoints {
  list(): readonly EndpointId[];
  onDeleted(listener: () => void): void;
}

/** Jobs of whose end somebody is still to be told, with their payloads. */
export interface PendingDeliveries {
  pending(): Iterable<JobKey>;
}

/** What maintenance looks at besides the view. */
export abstract class MaintenanceInputs {
  abstract readonly survey: StoreSurvey;
  abstract readonly leases: LeaseOutlook;
  abstract readonly deletedEndpoints: DeletedEndpoints;
  abstract readonly pendingDeliveries: PendingDeliveries;
  /** False while the view of jobs may miss something. */
  abstract get isViewWhole(): boolean;
}
