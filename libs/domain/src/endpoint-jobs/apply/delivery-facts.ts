import { LOST_ERROR, withLastTryClosed } from '../../webhook/index.js';
import { DELIVERY_KEPT_MS } from '../bounds.js';
import type { DeliveryEndedFact, DeliveryTriedFact } from '../facts.js';
import type { DeliveryData } from '../job-data.js';
import { deliveryName, type DeliveryRecord, type EndpointState, type LivingJob } from '../state.js';
import { leftByTold } from './leftovers.js';
import type { TouchedJob } from './touched-job.js';

/** The delivery of a job's end, where somebody is to be told. It lies in the log where its job does. */
export function addDelivery(state: EndpointState, job: LivingJob, atMs: number): void {
  const { attempt, jobId, webhook } = job.data;
  if (webhook === null) return;
  const delivery: DeliveryRecord = {
    what: 'delivery',
    name: deliveryName(jobId, attempt),
    untilMs: Number.POSITIVE_INFINITY,
    memoryIndex: -1,
    data: {
      jobId,
      attempt,
      url: webhook,
      createdAtMs: atMs,
      tries: [],
      nextAtMs: atMs,
      claim: null,
      outcome: null,
      endedAtMs: null,
      told: { ...job.data, history: [] },
    },
    body: job.body,
    output: job.output,
    outputPlace: job.outputPlace,
    place: job.place,
    older: null,
    newer: null,
    stepIndex: -1,
  };
  state.whole.insertAfter(job, delivery);
  listDelivery(state, delivery);
}

/** Lists a delivery by what its facts have made of it. */
export function listDelivery(state: EndpointState, delivery: DeliveryRecord): void {
  const { endedAtMs, outcome } = delivery.data;
  if (outcome === null || endedAtMs === null) {
    state.deliveries.set(delivery.name, delivery);
    state.sending.put(delivery);
    return;
  }
  delivery.untilMs = endedAtMs + DELIVERY_KEPT_MS;
  const dropped = state.delivered.put(delivery);
  if (dropped !== undefined) state.whole.remove(dropped);
}

export function unlistDelivery(state: EndpointState, delivery: DeliveryRecord): void {
  state.deliveries.delete(delivery.name);
  state.sending.remove(delivery);
}

export function applyDeliveryTried(
  state: EndpointState,
  delivery: DeliveryRecord,
  { atMs, token, untilMs }: DeliveryTriedFact,
): readonly TouchedJob[] {
  const { data } = delivery;
  const open = { atMs, durationMs: null, statusCode: null, error: null };
  delivery.data = { ...data, tries: [...closedTries(data), open], claim: { token, untilMs } };
  state.sending.put(delivery);
  return [];
}

/** A try that was never said to have ended is over with the claim of its sender. */
const closedTries = ({ claim, tries }: DeliveryData): DeliveryData['tries'] =>
  claim === null ? tries : withLastTryClosed(tries, { statusCode: null, error: LOST_ERROR }, claim.untilMs);

export function applyDeliveryEnded(
  state: EndpointState,
  delivery: DeliveryRecord,
  { atMs, nextAtMs, outcome, result }: DeliveryEndedFact,
): readonly TouchedJob[] {
  const { data } = delivery;
  const tries = withLastTryClosed(data.tries, result, atMs);
  delivery.data = { ...data, tries, claim: null, nextAtMs, outcome };
  if (outcome === null) {
    state.sending.put(delivery);
    return [];
  }
  unlistDelivery(state, delivery);
  const { told } = data;
  delivery.data = { ...delivery.data, endedAtMs: atMs, told: null };
  delivery.body = null;
  delivery.output = null;
  delivery.outputPlace = null;
  listDelivery(state, delivery);
  return told === null ? [] : leftByTold(state, told);
}
