import type { Clock, Random } from '@berth/lifecycle';
import { Broker, connectNats, drainConnection } from '@berth/messaging';
import { CommandError } from '../program/index.js';

const CONNECT_WITHIN_MS = 10_000;
/** One answer: a stream may be made on three brokers meanwhile. */
const ANSWER_MAX_MS = 30_000;

export interface BrokerLogin {
  readonly natsUrl: string;
  readonly natsSeed: string;
}

/**
 * Connects in a role of its own.
 *
 * @throws CommandError when the broker does not let us in
 */
export async function openBroker(
  { natsSeed, natsUrl }: BrokerLogin,
  { clock, random, role }: { readonly role: 'backup' | 'restore'; readonly clock: Clock; readonly random: Random },
): Promise<{ readonly broker: Broker; readonly close: () => Promise<void> }> {
  const inboxPrefix = `_INBOX_${role}`;
  try {
    const connection = await connectNats({
      ...{ url: natsUrl, name: `berth-${role}`, credentials: { kind: 'nkey', seed: natsSeed }, inboxPrefix },
      ...{ connectWithinMs: CONNECT_WITHIN_MS, clock, random },
    });
    const broker = await Broker.over({ connection, inboxPrefix, timeoutMs: ANSWER_MAX_MS });
    return { broker, close: () => drainConnection(connection, clock) };
  } catch (error) {
    throw new CommandError(`The broker at ${natsUrl} does not let us in: ${(error as Error).message}.`, {
      mend: `Is it up, and is BERTH_NATS_SEED that of the role ${role}? NODE_EXTRA_CA_CERTS names an authority of your own.`,
      cause: error,
    });
  }
}
