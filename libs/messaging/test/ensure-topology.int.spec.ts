import { systemClock, systemRandom } from '@berth/lifecycle';
import { useNatsServer } from '@berth/testing/servers';
import { StorageType } from '@nats-io/jetstream';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Broker } from '../src/broker/broker.js';
import { connectNats } from '../src/connection.js';
import { ensureTopology } from '../src/topology/ensure-topology.js';
import { streamConfigs } from '../src/topology/streams.js';
import { driftOf } from '../src/topology/topology-drift.js';
import { SIZE, ensure, openBroker } from './open-broker.js';

const nats = useNatsServer();
const small = useNatsServer({ fileStoreMaxBytes: 10_000_000 });
const brokers: Broker[] = [];

async function open(): Promise<Broker> {
  const broker = await openBroker(nats);
  brokers.push(broker);
  return broker;
}

afterEach(async () => {
  for (const { connection } of brokers.splice(0)) await connection.close();
});

async function deleteAll(broker: Broker): Promise<void> {
  for await (const name of broker.manager.streams.names()) await broker.manager.streams.delete(name);
}

describe('the topology', () => {
  test('is made by whoever comes first, also when several come at once', async () => {
    const crowd = await Promise.all([open(), open(), open(), open()]);
    const changes = await Promise.all(crowd.flatMap((broker) => [ensure(broker, 'jobs'), ensure(broker, 'snapshots')]));
    const wanted = [...streamConfigs('jobs', SIZE), ...streamConfigs('snapshots', SIZE)];
    // The broker answers the slower of two equal requests as if it had been the first.
    expect(new Set(changes.flat())).toEqual(new Set(wanted.map(({ name }) => `${name} created`)));
    for (const config of wanted) {
      const present = await crowd[0].manager.streams.info(config.name);
      expect(driftOf(present.config, config)).toEqual({ fixed: [], changeable: [] });
    }
  });

  test('is left alone when it is as wanted', async () => {
    const broker = await open();
    await ensure(broker, 'jobs');
    expect(await ensure(broker, 'jobs')).toEqual([]);
  });

  test('follows a changed storage budget', async () => {
    const broker = await open();
    await ensure(broker, 'snapshots');
    const larger = { ...SIZE, storageBytes: 2 * SIZE.storageBytes };
    expect(await ensure(broker, 'snapshots', larger)).toContain('KV_hosts updated');
    const { config } = await broker.manager.streams.info('KV_hosts');
    expect(config.max_bytes).toBe(streamConfigs('snapshots', larger)[0]?.max_bytes);
  });

  test('refuses a stream that was made otherwise and cannot be changed, and names it', async () => {
    const broker = await open();
    await deleteAll(broker);
    await broker.manager.streams.add({ name: 'LOG_0', subjects: ['log.0.*'], storage: StorageType.Memory });
    await expect(ensure(broker, 'jobs')).rejects.toThrow(/LOG_0 .*: .*storage/);
    await deleteAll(broker);
  });

  test('waits for a broker that is not ready', async () => {
    const broker = await open();
    await deleteAll(broker);
    await nats.server.kill();
    const ensured = ensure(broker, 'snapshots');
    await nats.restart('kill');
    expect(await ensured).toHaveLength(streamConfigs('snapshots', SIZE).length);
  });

  test('gives up in time when no broker comes, and at once when the storage cannot suffice', async () => {
    const connection = await connectNats({
      url: small.server.url,
      name: 'test',
      credentials: { kind: 'none' },
      connectWithinMs: 5_000,
      clock: systemClock,
      random: systemRandom,
    });
    const broker = await Broker.over({ connection, timeoutMs: 500 });
    const options = { broker, part: 'jobs', size: SIZE, clock: systemClock, random: systemRandom } as const;
    await expect(ensureTopology(options)).rejects.toThrow('insufficient storage');
    await small.server.kill();
    await expect(ensureTopology({ ...options, attemptsMax: 2 })).rejects.toThrow(/timeout|closed|responders/);
    await connection.close();
  });
});
