import { count, integer, objectOf, optional, text, type Members } from '@berth/domain/shape';
import type { Broker } from './broker.js';
import { API_ERROR, BrokerApiError, brokerUnavailable } from './broker-errors.js';

export interface StreamHead {
  /** When the stream was made, in the broker's own words: another instant means another stream under the old name. */
  readonly created: string;
  /** Of the last message that was ever there; 0: none was. */
  readonly lastSequence: number;
  /** Those that are there. */
  readonly messages: number;
  /** When the oldest and the newest message that are there were stored, Unix ms; null: it is empty. */
  readonly span: { readonly oldestAtMs: number; readonly newestAtMs: number } | null;
  readonly bytes: number;
  /** Null: it has no bound of its own. */
  readonly maxBytes: number | null;
}

interface StreamState {
  readonly bytes: number;
  readonly messages: number;
  readonly first_ts: string;
  readonly last_ts: string;
  readonly last_seq: number;
}

interface StreamBounds {
  /** -1: there is no bound. */
  readonly max_bytes: number;
}

interface InfoAnswer {
  readonly created?: string;
  readonly config?: StreamBounds;
  readonly state?: StreamState;
}

const INFO_ANSWER: Members<InfoAnswer> = {
  created: optional(text()),
  config: optional(objectOf<StreamBounds>({ max_bytes: integer(-1, Number.MAX_SAFE_INTEGER) })),
  state: optional(
    objectOf<StreamState>({ bytes: count, messages: count, first_ts: text(), last_ts: text(), last_seq: count }),
  ),
};

/**
 * The stream as its leader describes it; null: there is no such stream.
 *
 * @throws PlatformError `service-unavailable` when no answer comes, or one that does not say
 */
export async function readStreamHead(broker: Broker, stream: string): Promise<StreamHead | null> {
  const { config, created, error, state } = await broker.ask<InfoAnswer>(
    `$JS.API.STREAM.INFO.${stream}`,
    '',
    INFO_ANSWER,
  );
  if (error?.err_code === API_ERROR.streamNotFound) return null;
  // While a stream moves, its broker may say anything of it.
  if (error !== undefined) throw brokerUnavailable(new BrokerApiError(`look at ${stream}`, error));
  if (created === undefined || state === undefined || config === undefined)
    throw brokerUnavailable(new Error(`${stream} says nothing of itself`));
  return {
    created,
    lastSequence: state.last_seq,
    messages: state.messages,
    span:
      state.messages === 0 ? null : { oldestAtMs: Date.parse(state.first_ts), newestAtMs: Date.parse(state.last_ts) },
    bytes: state.bytes,
    maxBytes: config.max_bytes > 0 ? config.max_bytes : null,
  };
}
