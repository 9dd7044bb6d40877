import { systemClock } from '@berth/lifecycle';
import type { Msg } from '@nats-io/transport-node';
import type { Broker } from './broker.js';
import { brokerUnavailable, isUnanswered } from './broker-errors.js';
import { BROKER_HEADERS } from './headers.js';

interface BatchQuestion {
  readonly stream: string;
  /** JSON, as the broker wants it. */
  readonly question: string;
}

export interface BatchEnd {
  /** True when nothing that matches lies behind the batch. */
  readonly isLast: boolean;
  /** The last message that was sent; 0 where there was none. */
  readonly lastSequence: number;
}

const NOT_FOUND = 404;
const END_OF_BATCH = 204;
const UNHEARD = 503;

/**
 * Tells each message of one direct get of several. The end of the data is an end without messages.
 *
 * @throws PlatformError `service-unavailable` when the batch does not come to its end
 * @throws what `onMessage` throws
 */
export async function readBatch(
  broker: Broker,
  { stream, question }: BatchQuestion,
  onMessage: (answer: Msg) => unknown,
): Promise<BatchEnd> {
  const end = await collect(broker, { stream, question }, onMessage);
  if (end === null) {
    throw brokerUnavailable(new Error(`direct get from ${stream}: no end within ${broker.timeoutMs} ms`));
  }
  const code = end.headers?.code;
  if (code === NOT_FOUND) return { isLast: true, lastSequence: 0 };
  if (code === UNHEARD) throw brokerUnavailable(new Error(`nobody answers for ${stream}`));
  if (code !== END_OF_BATCH) throw new Error(`direct get from ${stream}: ${end.headers?.status ?? ''}`);
  return {
    isLast: Number(end.headers?.get(BROKER_HEADERS.pending)) === 0,
    lastSequence: Number(end.headers?.get(BROKER_HEADERS.lastSequence)),
  };
}

/** Gathers until the broker's own word that the batch has ended. Null when it did not come in time. */
async function collect(
  broker: Broker,
  { stream, question }: BatchQuestion,
  onMessage: (answer: Msg) => unknown,
): Promise<Msg | null> {
  const { connection, timeoutMs } = broker;
  const inbox = broker.newInbox();
  const end = Promise.withResolvers<Msg | null>();
  const patience = new AbortController();
  const subscription = connection.subscribe(inbox, {
    callback: (error, answer) => {
      // An error that escapes from a callback would end the client's reading loop, and with it everything on this
      // connection.
      try {
        if (error !== null) throw error;
        if (isEnd(answer)) end.resolve(answer);
        else onMessage(answer);
      } catch (failure) {
        end.reject(failure instanceof Error ? failure : new Error(String(failure)));
      }
    },
  });
  void systemClock.sleep(timeoutMs, patience.signal).then(() => {
    end.resolve(null);
  });
  try {
    connection.publish(`$JS.API.DIRECT.GET.${stream}`, question, { reply: inbox });
    return await end.promise;
  } catch (error) {
    throw isUnanswered(error) ? brokerUnavailable(error) : error;
  } finally {
    patience.abort();
    subscription.unsubscribe();
  }
}

/** The end has a status, of which the broker strips whatever is stored. A message may be as empty as the end. */
const isEnd = ({ headers }: Msg): boolean => (headers?.code ?? 0) !== 0;
