import type { JobId, JobKey } from '../ids.js';

/** One end of one attempt of a job, of which its webhook is told. */
export interface DeliveryKey extends JobKey {
  readonly attempt: number;
}

/** One request to the receiver. */
export interface DeliveryTry {
  readonly atMs: number;
  /** Null while it is under way. */
  readonly durationMs: number | null;
  /** The status that the receiver answered; null where it did not answer. */
  readonly statusCode: number | null;
  /** Why it was no success; null while it is under way, and of the one that succeeded. */
  readonly error: string | null;
}

/** A sender's hold on the delivery. It ends by itself, so a sender that dies keeps nothing. */
export interface DeliveryClaim {
  readonly token: string;
  readonly untilMs: number;
}

/** The telling of one end of a job, as its tenant may see it. Instants are Unix ms. */
export interface ToldDelivery {
  readonly jobId: JobId;
  readonly attempt: number;
  readonly url: string;
  readonly tries: readonly DeliveryTry[];
  /** Not to be tried before this instant. */
  readonly nextAtMs: number;
  /** Null while it is pending. */
  readonly outcome: 'delivered' | 'failed' | null;
  /** A try is under way. */
  readonly isClaimed: boolean;
}
