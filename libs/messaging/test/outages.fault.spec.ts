import { systemClock, systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { freshKey } from '@berth/testing/conformance';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { JetStreamBlobs } from '../src/blobs/jetstream-blobs.js';
import type { Broker } from '../src/broker/broker.js';
import { JetStreamReaderCursors } from '../src/reader-cursors/jetstream-reader-cursors.js';
import { STREAMS } from '../src/topology/subjects.js';
import { TopologyKeeper } from '../src/topology/topology-keeper.js';
import { SIZE, openBroker } from './open-broker.js';

const LIFE_MS = 3_600_000;
const RECOVERY = { deadlineMs: 90_000, intervalMs: 50 };
const nats = useNatsServer();
let broker: Broker;
let blobs: JetStreamBlobs;
let cursors: JetStreamReaderCursors;
let keeper: TopologyKeeper;

beforeAll(async () => {
  broker = await openBroker(nats, { timeoutMs: 1_000 });
  const options = { size: SIZE, clock: systemClock, random: systemRandom, onError: () => undefined };
  keeper = new TopologyKeeper({ broker, part: 'jobs', ...options });
  await keeper.start();
  blobs = new JetStreamBlobs(broker);
  cursors = new JetStreamReaderCursors(broker);
});
afterAll(async () => {
  await keeper.stop();
  await broker.connection.close();
});

const input = (bytes = new Uint8Array(10)) => ({ name: 'in', bytes });
const reader = () => ({ ...freshKey(), keyId: 'key-1' });

describe('a broker that is away', () => {
  test('is said to be unavailable by reads and writes, and all works again after it is back', async () => {
    await nats.server.kill();
    const unavailable = { code: 'service-unavailable', retryAfterSeconds: 1 };
    await expect(blobs.readPart(freshKey(), 'in', 0)).rejects.toMatchObject(unavailable);
    await expect(blobs.write(freshKey(), input(), LIFE_MS)).rejects.toMatchObject({ code: 'service-unavailable' });
    await nats.restart('kill');
    await eventually(() => blobs.write(freshKey(), input(), LIFE_MS), RECOVERY);
  });

  test('for a moment lets what is asked meanwhile wait until it is back', async () => {
    const patient = await openBroker(nats, { timeoutMs: 45_000 });
    process.kill(nats.server.pid, 'SIGSTOP');
    const onItsWay = new JetStreamBlobs(patient).readPart(freshKey(), 'in', 0);
    await patient.connection.flush().catch(() => undefined);
    const restarted = nats.restart('kill');
    await expect(onItsWay).rejects.toMatchObject({ code: 'service-unavailable' });
    expect(await new JetStreamBlobs(patient).readPart(freshKey(), 'in', 0)).toBeNull();
    await restarted;
    await patient.connection.close();
  });
});

describe('a broker that dies and comes back', () => {
  test('has every payload that it took, and no cursor', async () => {
    const key = freshKey();
    const bytes = new Uint8Array(20 * 1024 * 1024).map((_, at) => (at * 31 + (at >> 8)) & 0xff);
    const manifest = await eventually(() => blobs.write(key, input(bytes), LIFE_MS), RECOVERY);
    const cursor = { attempt: 1, index: 3 };
    // A try whose answer was lost may have been written, so each has a reader of its own.
    const of = await eventually(async () => {
      const own = reader();
      expect(await cursors.write(own, cursor, 0)).not.toBeNull();
      return own;
    }, RECOVERY);
    await nats.restart('kill');
    expect(await eventually(() => cursors.read(of), RECOVERY)).toBeNull();
    // The manifest's hash is checked by the read itself.
    expect((await blobs.read(key, manifest))?.byteLength).toBe(bytes.byteLength);
  });
});

test('a store that is full refuses in words that a caller may see', async () => {
  const { endpointId, jobId } = freshKey();
  const stream = STREAMS.blobs(jobId);
  const { config, state } = await broker.manager.streams.info(stream);
  await broker.manager.streams.update(stream, { max_bytes: state.bytes + 100_000 });
  const large = input(new Uint8Array(200_000));
  await expect(blobs.write({ endpointId, jobId }, large, LIFE_MS)).rejects.toMatchObject({
    code: 'service-unavailable',
    message: expect.stringContaining('The store is full'),
    retryAfterSeconds: 10,
  });
  await broker.manager.streams.update(stream, { max_bytes: config.max_bytes });
});
