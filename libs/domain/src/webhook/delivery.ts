import type { EndpointId, JobId, JobKey } from '../ids.js';
import { isEnded, jobKeyOf, type Job, type Payload } from '../job/index.js';
import { encodeJson } from '../json/index.js';

/** One end of one attempt of a job, of which its webhook is told. */
export interface DeliveryKey extends JobKey {
  readonly attempt: number;
}

/** One request to the receiver. */
export interface DeliveryTry {
  readonly atMs: number;
  /** Null while it is under way. */
  readonly durationMs: number | null;
  /** What the receiver answered; null where it did not. */
  readonly statusCode: number | null;
  /** Why it was no success; null while it is under way, and of the one that succeeded. */
  readonly error: string | null;
}

/** A sender's hold on the delivery. It ends by itself, so a sender that dies keeps nothing. */
export interface DeliveryClaim {
  readonly token: string;
  readonly untilMs: number;
}

/**
 * The record of a delivery: what is to be told, what was tried, and who is at it. Rewritten whole by every step.
 * Instants are Unix milliseconds on the routers' clock.
 */
export interface Delivery {
  readonly endpointId: EndpointId;
  readonly jobId: JobId;
  readonly attempt: number;
  readonly url: string;
  readonly createdAtMs: number;
  /** The ended job as it is told, since its own record may go meanwhile; null once nobody needs it any more. */
  readonly job: Job | null;
  readonly tries: readonly DeliveryTry[];
  /** Not to be tried before this instant. */
  readonly nextAtMs: number;
  readonly claim: DeliveryClaim | null;
  /** Null while it is pending. */
  readonly outcome: 'delivered' | 'failed' | null;
}

export const deliveryKeyOf = ({ endpointId, jobId, attempt }: DeliveryKey): DeliveryKey => ({
  endpointId,
  jobId,
  attempt,
});

/** The delivery of a job's present end; null where nobody is to be told, or there is nothing to tell yet. */
export function newDelivery(job: Job, nowMs: number): Delivery | null {
  if (job.webhook === null || !isEnded(job.state)) return null;
  return {
    ...jobKeyOf(job),
    attempt: job.attempt,
    url: job.webhook,
    createdAtMs: nowMs,
    job: { ...job, extras: encodeJson({}), sealedExtras: null, history: [] },
    tries: [],
    nextAtMs: nowMs,
    claim: null,
    outcome: null,
  };
}

/** About how large the body of a request will be: its input and its output, in bytes or UTF-16 units. */
export function deliverySize({ job }: Delivery): number {
  if (job === null) return 0;
  return payloadSize(job.input) + (job.output === null ? 0 : payloadSize(job.output));
}

const payloadSize = (payload: Payload): number =>
  payload.kind === 'inline' ? payload.json.length : payload.manifest.sizeBytes;
