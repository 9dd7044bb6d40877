import {
  blobsConformance,
  chunksConformance,
  deliveriesConformance,
  jobRecordsConformance,
  leasesConformance,
  readerCursorsConformance,
  reservationsConformance,
  ticketsConformance,
  useNatsServer,
  type Conforming,
} from '@berth/testing';
import { afterAll, beforeAll } from '@jest/globals';
import { JetStreamBlobs } from '../src/blobs/jetstream-blobs.js';
import type { Broker } from '../src/broker/broker.js';
import { JetStreamChunks } from '../src/chunk-log/jetstream-chunks.js';
import { JetStreamDeliveries } from '../src/deliveries/jetstream-deliveries.js';
import { JetStreamReservations } from '../src/idempotency/jetstream-reservations.js';
import { JetStreamJobRecords } from '../src/job-records/jetstream-job-records.js';
import { JetStreamLeases } from '../src/leases/jetstream-leases.js';
import { JetStreamReaderCursors } from '../src/reader-cursors/jetstream-reader-cursors.js';
import { JetStreamTickets } from '../src/tickets/jetstream-tickets.js';
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

const LEASE_MS = 1_000;

jobRecordsConformance(
  'JetStream',
  opened(() => new JetStreamJobRecords(broker)),
);
ticketsConformance(
  'JetStream',
  opened(() => new JetStreamTickets(broker)),
);
leasesConformance(
  'JetStream',
  opened(() => new JetStreamLeases(broker, LEASE_MS)),
  LEASE_MS,
);
readerCursorsConformance(
  'JetStream',
  opened(() => new JetStreamReaderCursors(broker, LEASE_MS)),
  LEASE_MS,
);
reservationsConformance(
  'JetStream',
  opened(() => new JetStreamReservations(broker)),
);
blobsConformance(
  'JetStream',
  opened(() => new JetStreamBlobs(broker)),
);
chunksConformance(
  'JetStream',
  opened(() => new JetStreamChunks(broker)),
);
deliveriesConformance(
  'JetStream',
  opened(() => new JetStreamDeliveries(broker)),
);
