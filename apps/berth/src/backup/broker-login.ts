import type { Clock, Random } from '@berth/lifecycle';
import type { Broker } from '@berth/messaging';
import { closeBroker, openBroker } from '../connections/index.js';
import { CommandError } from '../program/index.js';

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
export async function logInToBroker(
  { natsSeed, natsUrl }: BrokerLogin,
  { clock, random, role }: { readonly role: 'backup' | 'restore'; readonly clock: Clock; readonly random: Random },
): Promise<{ readonly broker: Broker; readonly close: () => Promise<void> }> {
  const credentials = { kind: 'nkey', seed: natsSeed } as const;
  const access = { url: natsUrl, credentials, inboxPrefix: `_INBOX_${role}`, answerWithinMs: ANSWER_MAX_MS };
  try {
    const broker = await openBroker(access, { clock, random });
    return { broker, close: () => closeBroker(broker, { clock }) };
  } catch (error) {
    throw new CommandError(`The broker at ${natsUrl} does not let us in: ${(error as Error).message}.`, {
      mend: `Is it up, and is BERTH_NATS_SEED that of the role ${role}? NODE_EXTRA_CA_CERTS names an authority of your own.`,
      cause: error,
    });
  }
}
