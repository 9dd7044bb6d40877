import { systemClock, systemRandom } from '@berth/lifecycle';
import type { NatsFixture } from '@berth/testing/servers';
import { connectNats } from '../src/connection.js';
import { Broker } from '../src/broker/broker.js';
import { ensureTopology } from '../src/topology/ensure-topology.js';
import type { TopologyPart, TopologySize } from '../src/topology/streams.js';

export const SIZE: TopologySize = { replicas: 1, storageBytes: 4 * 1024 ** 3, memoryBytes: 64 * 1024 ** 2 };

/** A machine may stand still for a minute. */
const CONNECTED_WITHIN_MS = 60_000;

/** A connection as the applications have it. The caller closes it. */
export const openBroker = (nats: NatsFixture, options: { readonly timeoutMs?: number } = {}): Promise<Broker> =>
  openBrokerAt(nats.server.url, options);

/** @param url one address, or several with commas between */
export async function openBrokerAt(url: string, options: { readonly timeoutMs?: number } = {}): Promise<Broker> {
  const connection = await connectNats({
    url,
    name: 'test',
    credentials: { kind: 'none' },
    connectWithinMs: CONNECTED_WITHIN_MS,
    clock: systemClock,
    random: systemRandom,
  });
  return Broker.over({ connection, ...options });
}

export async function ensure(broker: Broker, part: TopologyPart, size = SIZE): Promise<string[]> {
  const changes: string[] = [];
  await ensureTopology({
    broker,
    part,
    size,
    clock: systemClock,
    random: systemRandom,
    onChange: ({ created, updated }) => {
      changes.push(...created.map((name) => `${name} created`), ...updated.map((name) => `${name} updated`));
    },
  });
  return changes;
}
