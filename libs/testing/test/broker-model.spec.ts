import type { JobStore } from '@berth/jobs';
import { LEASE_MS, READER_CURSOR_MS } from '@berth/jobs';
import { ManualClock } from '../src/clock/manual-clock.js';
import {
  blobsConformance,
  chunksConformance,
  deliveriesConformance,
  jobRecordsConformance,
  leasesConformance,
  readerCursorsConformance,
  reservationsConformance,
  ticketsConformance,
  type Open,
} from '../src/conformance/index.js';
import { BrokerModel } from '../src/simulator/broker-model.js';
import { modelReaderCursors, modelStore, openGate } from '../src/simulator/model-store.js';

/** The simulator's broker is held to what a real one does, by the same suites. */
const opened =
  <Port extends keyof ReturnType<typeof modelStore>>(port: Port): Open<JobStore[Port]> =>
  () => {
    const clock = new ManualClock();
    const store: Pick<JobStore, Port> = modelStore(new BrokerModel(() => clock.nowMs()), openGate);
    return Promise.resolve({ port: store[port], elapse: (ms: number) => clock.advance(ms) });
  };

jobRecordsConformance('the broker model', opened('records'));
ticketsConformance('the broker model', opened('tickets'));
leasesConformance('the broker model', opened('leases'), LEASE_MS);
blobsConformance('the broker model', opened('blobs'));
chunksConformance('the broker model', opened('chunks'));
deliveriesConformance('the broker model', opened('deliveries'));
reservationsConformance('the broker model', opened('reservations'));
readerCursorsConformance(
  'the broker model',
  () => {
    const clock = new ManualClock();
    const port = modelReaderCursors(new BrokerModel(() => clock.nowMs()), openGate);
    return Promise.resolve({ port, elapse: (ms: number) => clock.advance(ms) });
  },
  READER_CURSOR_MS,
);
