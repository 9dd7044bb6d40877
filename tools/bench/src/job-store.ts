import { join } from 'node:path';
import type { StartedStack } from '@berth/dev-stack';
import { recallable, type JobStore } from '@berth/jobs';
import { systemClock, systemRandom } from '@berth/lifecycle';
import {
  Broker,
  JetStreamBlobs,
  JetStreamChunks,
  JetStreamDeliveries,
  JetStreamJobRecords,
  JetStreamLeases,
  JetStreamReservations,
  JetStreamTickets,
  connectNats,
  type NatsCredentials,
} from '@berth/messaging';
import { loadOrCreateNatsKeys } from '@berth/servers';

const CONNECT_WITHIN_MS = 10_000;
/** Longer than a router waits: a broker that is being filled answers late, and that is no failure here. */
const ANSWER_WITHIN_MS = 60_000;
const ROUTER_INBOX = '_INBOX_router';

/** The caller closes its connection. */
export async function openBroker(url: string, credentials: NatsCredentials = { kind: 'none' }): Promise<Broker> {
  const connection = await connectNats({
    url,
    name: 'bench',
    credentials,
    inboxPrefix: ROUTER_INBOX,
    connectWithinMs: CONNECT_WITHIN_MS,
    clock: systemClock,
    random: systemRandom,
  });
  return Broker.over({ connection, inboxPrefix: ROUTER_INBOX, timeoutMs: ANSWER_WITHIN_MS });
}

/** The stack's own broker, with what a router may do there. The caller closes its connection. */
export async function openStackBroker({ dev, home }: StartedStack): Promise<Broker> {
  const { roles } = await loadOrCreateNatsKeys(join(home, 'secrets', 'nats.json'));
  return openBroker(dev.natsUrl, { kind: 'nkey', seed: roles.router });
}

/** The ports of the jobs' life on the adapters that a router has. */
export const openJobStore = (broker: Broker): JobStore => ({
  records: recallable(new JetStreamJobRecords(broker)),
  tickets: new JetStreamTickets(broker),
  leases: new JetStreamLeases(broker),
  blobs: new JetStreamBlobs(broker),
  chunks: new JetStreamChunks(broker),
  deliveries: new JetStreamDeliveries(broker, () => 0),
  reservations: new JetStreamReservations(broker),
  stopSignals: { send: () => undefined },
  clock: systemClock,
  random: systemRandom,
});
