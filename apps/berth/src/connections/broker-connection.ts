import { OPERATOR_INBOX } from '@berth/contracts';
import { Broker, connectNats, drainConnection, type NatsCredentials } from '@berth/messaging';
import { retry, type Clock, type Random } from '@berth/lifecycle';
import { connectionFailureOf } from './connection-failure-of.js';
import { isRefusedByBroker } from './connection-failure.js';

export interface BrokerTools {
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the tries. */
  readonly signal?: AbortSignal;
}

/** Where a broker is, or several are, and by which key it knows whoever comes. */
export interface BrokerAccess {
  /** Several with commas between. */
  readonly url: string;
  readonly credentials: NatsCredentials;
  /** Below which the role hears answers. Default: that of the operator. */
  readonly inboxPrefix?: string;
  /** Longest wait for one answer. Default: that of `Broker`. */
  readonly answerWithinMs?: number;
}

const ATTEMPTS_MAX = 3;
const BASE_DELAY_MS = 200;
const MAX_DELAY_MS = 1_000;

/** A refusal stays one, and what the system or TLS gave a code for is told at once; a broken handshake may pass. */
const isRetriable = (error: unknown): boolean => {
  const failure = connectionFailureOf(error);
  return failure.code === null && !isRefusedByBroker(failure);
};

/**
 * Connects to one broker, or to the first of several that lets one in; to be closed by `closeBroker`.
 *
 * @throws what the client throws
 */
export async function openBroker(
  { answerWithinMs, credentials, inboxPrefix = OPERATOR_INBOX, url }: BrokerAccess,
  tools: BrokerTools,
): Promise<Broker> {
  const as = { url, credentials, name: 'berth', inboxPrefix, connectWithinMs: 0 };
  const connection = await retry(() => connectNats({ ...as, ...tools }), {
    ...{ ...tools, attemptsMax: ATTEMPTS_MAX, baseDelayMs: BASE_DELAY_MS, maxDelayMs: MAX_DELAY_MS },
    isRetriable,
  });
  return Broker.over({ connection, inboxPrefix, ...(answerWithinMs !== undefined && { timeoutMs: answerWithinMs }) });
}

/** Lets what was asked be answered, for as long as that is worth waiting for. */
export const closeBroker = ({ connection }: Broker, { clock }: Pick<BrokerTools, 'clock'>): Promise<void> =>
  drainConnection(connection, clock);

/**
 * Connects, does something there, and closes.
 *
 * @throws what the client throws
 */
export async function usingBroker<Result>(
  access: BrokerAccess,
  tools: BrokerTools,
  work: (broker: Broker) => Promise<Result>,
): Promise<Result> {
  const broker = await openBroker(access, tools);
  try {
    return await work(broker);
  } finally {
    await closeBroker(broker, tools);
  }
}
