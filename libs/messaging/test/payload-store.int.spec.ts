import {
  blobsConformance,
  chunksConformance,
  readerCursorsConformance,
  type Conforming,
} from '@berth/testing/conformance';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, beforeAll } from '@jest/globals';
import { JetStreamBlobs } from '../src/blobs/jetstream-blobs.js';
import type { Broker } from '../src/broker/broker.js';
import { JetStreamChunks } from '../src/chunk-log/jetstream-chunks.js';
import { JetStreamReaderCursors } from '../src/reader-cursors/jetstream-reader-cursors.js';
import { ensure, openBroker } from './open-broker.js';

const nats = useNatsServer();
let broker: Broker;

beforeAll(async () => {
  broker = await openBroker(nats);
  await ensure(broker, 'jobs');
});
afterAll(() => broker.connection.close());

/** Real time passes by itself: the suites' assertions repeat until they hold. */
const opened =
  <Port>(make: () => Port) =>
  async (): Promise<Conforming<Port>> => ({ port: make(), elapse: () => Promise.resolve() });

const CURSOR_MS = 1_000;

readerCursorsConformance(
  'JetStream',
  opened(() => new JetStreamReaderCursors(broker, CURSOR_MS)),
  CURSOR_MS,
);
blobsConformance(
  'JetStream',
  opened(() => new JetStreamBlobs(broker)),
);
chunksConformance(
  'JetStream',
  opened(() => new JetStreamChunks(broker)),
);
