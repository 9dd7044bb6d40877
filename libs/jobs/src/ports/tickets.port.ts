import type { EndpointId, JobId, JobKey } from '@berth/domain';

/** A hint that a job waits. Taking is decided by the record, so a lost, repeated or stale ticket does no harm. */
export interface Ticket {
  readonly endpointId: EndpointId;
  readonly jobId: JobId;
  readonly attempt: number;
  readonly isLowPriority: boolean;
  /** Not to be taken before this instant. */
  readonly notBeforeMs: number;
}

export interface QueuedTicket {
  readonly ticket: Ticket;
  /** Place in the queue: smaller is earlier. Also names the ticket for `remove`. */
  readonly sequence: number;
}

export interface Tickets {
  /** Idempotent: a ticket that is there already is success. */
  put(ticket: Ticket, ttlMs: number): Promise<void>;
  /** Waiting tickets of one endpoint and priority after `afterSequence`, in order, at most `limit`. */
  list(query: {
    readonly endpointId: EndpointId;
    readonly isLowPriority: boolean;
    readonly afterSequence: number;
    readonly limit: number;
  }): Promise<readonly QueuedTicket[]>;
  /** No ticket of the endpoint that was put before this was asked has a larger sequence; 0 where none was ever put. */
  lastSequence(endpointId: EndpointId): Promise<number>;
  /** Removes one ticket that was listed; gone already is success. */
  remove(queued: QueuedTicket): Promise<void>;
  /** Removes the ticket of one attempt, wherever it stands; absent is success. */
  removeFor(key: JobKey, attempt: number, isLowPriority: boolean): Promise<void>;
}
