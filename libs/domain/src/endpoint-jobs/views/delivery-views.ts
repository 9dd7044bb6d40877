import type { JobId } from '../../ids.js';
import type { DeliveryKey } from '../../webhook/index.js';
import type { JobBody } from '../job-data.js';
import { seenOf, type HeldPayload, type PayloadReference, type SeenJob } from './job-views.js';
import { deliveryName, deliveryNextAtMs, type EndpointState } from '../state.js';
import type { LogPlace } from '../structures/carry-list.js';

/** A delivery whose next try may begin. */
export interface DueDelivery {
  readonly jobId: JobId;
  readonly attempt: number;
  readonly url: string;
  /** Unix ms. */
  readonly dueAtMs: number;
  /** Of what is to be told: about as much as the payloads take. */
  readonly bytes: number;
}

/** The longest due first, at most so many. */
export const viewDueDeliveries = (state: EndpointState, atMs: number, limit: number): readonly DueDelivery[] =>
  state.sending.due(atMs, limit).map(({ data }) => ({
    jobId: data.jobId,
    attempt: data.attempt,
    url: data.url,
    dueAtMs: deliveryNextAtMs(data),
    bytes: (data.told?.bodyBytes ?? 0) + (data.told?.outputBytes ?? 0),
  }));

/** The end that a receiver is to be told of, with its payloads or where the log has them. */
export interface ToldEnd {
  /** The job as it had ended. */
  readonly job: SeenJob;
  readonly url: string;
  readonly body: HeldPayload<JobBody>;
}

/** Null: the delivery is over, or there is none. */
export function viewToldEnd(
  state: EndpointState,
  { attempt, endpointId, jobId }: DeliveryKey,
  atMs: number,
): ToldEnd | null {
  const delivery = state.deliveries.get(deliveryName(jobId, attempt));
  const told = delivery?.data.told ?? null;
  if (delivery === undefined || told === null) return null;
  const { body, data, output, outputPlace, place } = delivery;
  const lies = (part: 'body' | 'output', where: LogPlace | null): PayloadReference | null =>
    where === null ? null : { part, jobId, attempt, place: where };
  return {
    job: {
      ...seenOf(endpointId, told, atMs),
      queue: null,
      output: { value: output, reference: output === null ? lies('output', outputPlace) : null },
    },
    url: data.url,
    body: { value: body, reference: body === null ? lies('body', place) : null },
  };
}
