import {
  connectionFailureOf,
  usingBroker,
  type BrokerAccess,
  type BrokerTools,
  type ConnectionFailure,
} from '../../connections/index.js';
import type { BrokerFacts } from '../judges/judge-broker.js';
import { addressOf, probeCertificate, probePlainWords, type Address } from './probe-sockets.js';

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
    await usingBroker({ url, credentials: { kind: 'none' } }, tools, () => Promise.resolve());
    return true;
  } catch {
    return false;
  }
}

async function probeLogin(access: BrokerAccess, tools: BrokerTools): Promise<BrokerFacts['login'] | ConnectionFailure> {
  try {
    return await usingBroker(access, tools, ({ connection: { info } }) =>
      Promise.resolve({ version: info?.version ?? 'of no version', hasJetStream: info?.jetstream === true }),
    );
  } catch (error) {
    return connectionFailureOf(error);
  }
}
