import type { Msg } from '@nats-io/transport-node';
import type { Broker } from '../broker/broker.js';
import { brokerUnavailable } from '../broker/broker-errors.js';
import { BROKER_HEADERS } from '../broker/headers.js';
import type { TailMessage } from '../broker/tail-session.js';
import { STREAMS } from '../topology/subjects.js';

/** A message of `EV` with the instant at which it was stored there, in the broker's own words. */
export interface StoredEvent extends TailMessage {
  readonly storedAt: string;
}

export interface EventPage {
  /** In order. */
  readonly events: readonly StoredEvent[];
  /** How many more there are behind them. */
  readonly pending: number;
}

export interface EventPageQuery {
  /** From this message on, or the next one that there is; or from the first that was stored then or later. */
  readonly from: { readonly sequence: number } | { readonly storedAt: string };
  /** At least 2: a question for one message is answered in another form. */
  readonly countMax: number;
  readonly bytesMax: number;
}

const END_OF_BATCH = 204;
const NOT_FOUND = 404;
const UNHEARD = 503;

/**
 * Several whole messages of `EV` by one direct get. Asked for and not pushed, because records are large: a reader whose
 * database is away asks for no more.
 *
 * @throws PlatformError `service-unavailable` when the page does not come whole
 */
export async function readEventPage(broker: Broker, query: EventPageQuery): Promise<EventPage> {
  const { bytesMax, countMax, from } = query;
  const start = 'sequence' in from ? { seq: from.sequence } : { start_time: from.storedAt };
  const messages: Msg[] = [];
  const end = await collect(broker, JSON.stringify({ ...start, batch: countMax, max_bytes: bytesMax }), messages);
  const code = end.headers?.code;
  if (code === UNHEARD) throw brokerUnavailable(new Error(`nobody answers for ${STREAMS.events}`));
  if (code !== END_OF_BATCH && code !== NOT_FOUND) {
    throw new Error(`direct get from ${STREAMS.events}: ${end.headers?.status ?? ''}`);
  }
  return { events: messages.map(storedEvent), pending: Number(end.headers?.get(BROKER_HEADERS.pending)) };
}

/** Until the message with a status, for an expiry marker is as empty as the end of a batch. */
async function collect(broker: Broker, question: string, messages: Msg[]): Promise<Msg> {
  const { connection, timeoutMs } = broker;
  const inbox = broker.newInbox();
  const end = Promise.withResolvers<Msg>();
  const subscription = connection.subscribe(inbox, {
    timeout: timeoutMs,
    callback: (error, message) => {
      if (error !== null) end.reject(brokerUnavailable(error));
      else if ((message.headers?.code ?? 0) === 0) messages.push(message);
      else end.resolve(message);
    },
  });
  try {
    connection.publish(`$JS.API.DIRECT.GET.${STREAMS.events}`, question, { reply: inbox });
    return await end.promise;
  } finally {
    subscription.unsubscribe();
  }
}

function storedEvent({ data, headers }: Msg): StoredEvent {
  if (headers === undefined) throw new Error('direct get: an answer without headers');
  return {
    subject: headers.last(BROKER_HEADERS.subject),
    sequence: Number(headers.last(BROKER_HEADERS.sequence)),
    storedAt: headers.last(STORED_AT),
    headers,
    body: data,
  };
}

const STORED_AT = 'Nats-Time-Stamp';
