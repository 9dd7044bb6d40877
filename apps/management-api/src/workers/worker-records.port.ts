import type { AccountId, EndpointId, Worker } from '@berth/domain';

/** A worker with what is shown beside it. */
export interface PlacedWorker extends Worker {
  readonly dataCenterId: string;
  /** Of the worker's own release; null where that is not known any more. */
  readonly image: string | null;
}

/** A worker that is wanted and could not be placed. */
interface WaitingWorker {
  readonly reason: string;
  readonly detail: string;
  /** ISO 8601. */
  readonly since: string;
  readonly hosts: readonly { readonly id: string; readonly reason: string }[];
}

/** The last decision of the scaling loop. */
export interface ScalingDecision {
  readonly desired: number;
  readonly reason: string;
  readonly detail: string;
  readonly decidedAtMs: number;
  readonly waiting: readonly WaitingWorker[];
}

/** Every method is about an endpoint of one account. */
export interface WorkerRecords {
  /** Oldest first. What its host has removed is only waiting to be forgotten, and is not there. */
  ofEndpoint(accountId: AccountId, endpointId: EndpointId): Promise<readonly PlacedWorker[]>;
  /** Null before the loop has looked at the endpoint. */
  scalingOf(accountId: AccountId, endpointId: EndpointId): Promise<ScalingDecision | null>;
}
