import { JetStreamApiError, type StreamInfo } from '@nats-io/jetstream';
import type { Broker } from '../broker/broker.js';
import { API_ERROR } from '../broker/broker-errors.js';

export const isApiError = (error: unknown, code: number): boolean =>
  error instanceof JetStreamApiError && error.code === code;

/** The stream as its leader describes it; null: there is none of that name. */
export async function findStream(broker: Broker, name: string): Promise<StreamInfo | null> {
  try {
    return await broker.manager.streams.info(name);
  } catch (error) {
    if (isApiError(error, API_ERROR.streamNotFound)) return null;
    throw error;
  }
}
