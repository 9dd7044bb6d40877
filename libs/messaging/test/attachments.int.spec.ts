import { outputBlobName } from '@berth/contracts';
import { encodeJson, type JobKey } from '@berth/domain';
import { freshKey } from '@berth/testing/conformance';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { JetStreamAttachments } from '../src/attachments/jetstream-attachments.js';
import { JetStreamBlobs } from '../src/blobs/jetstream-blobs.js';
import type { Broker } from '../src/broker/broker.js';
import { JetStreamChunks } from '../src/chunk-log/jetstream-chunks.js';
import { ensure, openBroker } from './open-broker.js';

const nats = useNatsServer();
const LIFE_MS = 3_600_000;
let broker: Broker;
let attachments: JetStreamAttachments;
let key: JobKey;

beforeAll(async () => {
  broker = await openBroker(nats);
  await ensure(broker, 'jobs');
  attachments = new JetStreamAttachments(broker);
});
afterAll(() => broker.connection.close());
beforeEach(() => {
  key = freshKey();
});

/** An input, and of two attempts an output and two chunks each. */
async function write(of: JobKey): Promise<void> {
  const [blobs, chunks] = [new JetStreamBlobs(broker), new JetStreamChunks(broker)];
  for (const name of ['in', outputBlobName(1), outputBlobName(2)]) {
    await blobs.write(of, { name, bytes: Buffer.alloc(10) }, LIFE_MS);
  }
  for (const attempt of [1, 2]) {
    for (const index of [0, 1]) await chunks.append(of, { attempt, index, body: encodeJson(index) }, LIFE_MS);
  }
}

async function left(of: JobKey): Promise<readonly string[]> {
  const [blobs, chunks] = [new JetStreamBlobs(broker), new JetStreamChunks(broker)];
  const found: string[] = [];
  for (const name of ['in', 'out1', 'out2']) if ((await blobs.readPart(of, name, 0)) !== null) found.push(name);
  for (const attempt of [1, 2]) {
    const read = await chunks.read({ ...of, attempt, fromIndex: 0, limit: 10 });
    if (read.length > 0) found.push(`${read.length} of ${attempt}`);
  }
  return found;
}

test('of a job that is gone everything goes, and nothing of its neighbours', async () => {
  const neighbour = { ...freshKey(), endpointId: key.endpointId };
  await write(key);
  await write(neighbour);
  await attachments.remove(key, { of: 'job' });
  expect(await left(key)).toEqual([]);
  expect(await left(neighbour)).toEqual(['in', 'out1', 'out2', '2 of 1', '2 of 2']);
  await attachments.remove(key, { of: 'job' });
});

test('of an attempt that is over goes what is said to be left of it', async () => {
  await write(key);
  await attachments.remove(key, { of: 'attempt', attempt: 1, hasChunks: true, hasOutput: false });
  expect(await left(key)).toEqual(['in', 'out1', 'out2', '2 of 2']);
  await attachments.remove(key, { of: 'attempt', attempt: 1, hasChunks: false, hasOutput: true });
  expect(await left(key)).toEqual(['in', 'out2', '2 of 2']);
});

test('of an endpoint goes everything, wherever it lies, and is counted', async () => {
  const jobs = Array.from({ length: 5 }, () => ({ ...freshKey(), endpointId: key.endpointId }));
  const other = freshKey();
  for (const job of [...jobs, other]) await write(job);
  expect(await attachments.removeEndpoint(key.endpointId)).toBe(5 * 7);
  for (const job of jobs) expect(await left(job)).toEqual([]);
  expect(await left(other)).toHaveLength(5);
  expect(await attachments.removeEndpoint(key.endpointId)).toBe(0);
});
