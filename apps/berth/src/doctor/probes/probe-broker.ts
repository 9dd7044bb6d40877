import { OPERATOR_INBOX } from '@berth/contracts';
import { Broker, connectNats, drainConnection, type NatsCredentials } from '@berth/messaging';
import { retry, type Clock, type Random } from '@berth/lifecycle';
import type { ConnectionFailure } from '../judges/connection-failure.js';
import type { BrokerFacts } from '../judges/judge-broker.js';
import { connectionFailureOf } from './connection-failure-of.js';
import { addressOf, probeCertificate, probePlainWords, type Address } from './probe-sockets.js';

export interface BrokerTools {
  readonly clock: Clock;
  readonly random: Random;
}

/** Where one broker is, and by which key it knows the operator. */
export interface BrokerAccess {
  readonly url: string;
  readonly credentials: NatsCredentials;
}

const PORT = 4_222;

/** Comes to a broker in every way that somebody could. Never throws for what the broker does. */
export async function probeBroker(access: BrokerAccess, tools: BrokerTools): Promise<BrokerFacts> {
  const isTls = access.url.startsWith('tls:');
  const address = addressOf(access.url, PORT);
  const [tls, speaksInTheClear, letsAnybodyIn, login] = await Promise.all([
    isTls ? probeTls(address) : null,
    isTls ? probePlainWords(address).catch(() => false) : true,
    probeStranger(access.url, tools),
    probeLogin(access, tools),
  ]);
  return { address: `${address.host}:${String(address.port)}`, tls, speaksInTheClear, letsAnybodyIn, login };
}

async function probeTls(address: Address): Promise<BrokerFacts['tls']> {
  try {
    return { certificateUntilMs: await probeCertificate(address) };
  } catch (error) {
    return connectionFailureOf(error);
  }
}

/** A stranger is refused, or left alone until somebody has decided: both are as it should be. */
async function probeStranger(url: string, tools: BrokerTools): Promise<boolean> {
  try {
    await usingConnection({ url, credentials: { kind: 'none' } }, tools, () => Promise.resolve());
    return true;
  } catch {
    return false;
  }
}

async function probeLogin(access: BrokerAccess, tools: BrokerTools): Promise<BrokerFacts['login'] | ConnectionFailure> {
  try {
    return await usingConnection(access, tools, ({ connection: { info } }) =>
      Promise.resolve({ version: info?.version ?? 'of no version', hasJetStream: info?.jetstream === true }),
    );
  } catch (error) {
    return connectionFailureOf(error);
  }
}

const ATTEMPTS_MAX = 3;
const BASE_DELAY_MS = 200;
const MAX_DELAY_MS = 1_000;
const REFUSAL = /authorization|authentication/i;

/** A refusal stays one, and what the system or TLS gave a code for is told at once; a broken handshake may pass. */
const isRetriable = (error: unknown): boolean => {
  const { code, message } = connectionFailureOf(error);
  return code === null && !REFUSAL.test(message);
};

/**
 * Connects to one broker, or to the first of several that lets the operator in, and does something there.
 *
 * @throws what the client throws
 */
export async function usingConnection<Result>(
  { credentials, url }: BrokerAccess,
  tools: BrokerTools,
  work: (broker: Broker) => Promise<Result>,
): Promise<Result> {
  const as = { url, credentials, name: 'berth doctor', inboxPrefix: OPERATOR_INBOX, connectWithinMs: 0 };
  const connection = await retry(() => connectNats({ ...as, ...tools }), {
    ...{ ...tools, attemptsMax: ATTEMPTS_MAX, baseDelayMs: BASE_DELAY_MS, maxDelayMs: MAX_DELAY_MS },
    isRetriable,
  });
  try {
    return await work(await Broker.over({ connection, inboxPrefix: OPERATOR_INBOX }));
  } finally {
    await drainConnection(connection, tools.clock);
  }
}
