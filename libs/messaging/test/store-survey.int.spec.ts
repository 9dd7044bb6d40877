import { encodeJson, type EndpointId, type JobId } from '@berth/domain';
import { useNatsServer } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { JetStreamBlobs } from '../src/blobs/jetstream-blobs.js';
import type { Broker } from '../src/broker/broker.js';
import { JetStreamChunks } from '../src/chunk-log/jetstream-chunks.js';
import { StoreSurvey, type JobAttachment } from '../src/maintenance/store-survey.js';
import { ensure, openBroker } from './open-broker.js';

const START_TIMEOUT_MS = 60_000;
const TTL_MS = 600_000;
const nats = useNatsServer();
const keyOf = (endpoint: string, job: string) => ({ endpointId: endpoint as EndpointId, jobId: job as JobId });

let broker: Broker;
let survey: StoreSurvey;

beforeAll(async () => {
  broker = await openBroker(nats);
  await ensure(broker, 'jobs');
  survey = new StoreSurvey(broker);
}, START_TIMEOUT_MS);
afterAll(() => broker.connection.close());

const listed = async (): Promise<readonly JobAttachment[]> => {
  const found: JobAttachment[] = [];
  for await (const attachment of survey.attachments()) found.push(attachment);
  return found.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
};

describe('the survey of the job streams', () => {
  test('names each job with payload parts and each attempt with chunks once, and purges one endpoint only', async () => {
    const blobs = new JetStreamBlobs(broker);
    const chunks = new JetStreamChunks(broker);
    for (const index of [0, 1, 2]) {
      await blobs.writePart(keyOf('a', 'x'), { name: 'in', index, bytes: new Uint8Array(10) }, TTL_MS);
      await chunks.append(keyOf('a', 'x'), { attempt: 1, index, body: encodeJson(index) }, TTL_MS);
    }
    await chunks.append(keyOf('a', 'x'), { attempt: 2, index: 0, body: encodeJson(0) }, TTL_MS);
    await blobs.writePart(keyOf('b', 'y'), { name: 'in', index: 0, bytes: new Uint8Array(10) }, TTL_MS);

    const other = { ...keyOf('b', 'y'), attempt: null };
    expect(await listed()).toEqual([
      { ...keyOf('a', 'x'), attempt: 1 },
      { ...keyOf('a', 'x'), attempt: 2 },
      { ...keyOf('a', 'x'), attempt: null },
      other,
    ]);
    expect(await survey.purgeEndpoint('a' as EndpointId)).toBe(7);
    expect(await survey.purgeEndpoint('a' as EndpointId)).toBe(0);
    expect(await listed()).toEqual([other]);
  });
});
