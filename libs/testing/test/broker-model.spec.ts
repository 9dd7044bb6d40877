import type { JobStore } from '@berth/jobs';
import { LEASE_MS } from '@berth/jobs';
import { ManualClock } from '../src/clock/manual-clock.js';
import {
  blobsConformance,
  chunksConformance,
  jobRecordsConformance,
  leasesConformance,
  ticketsConformance,
  type Open,
} from '../src/conformance/index.js';
import { BrokerModel } from '../src/simulator/broker-model.js';
import { modelStore, openGate } from '../src/simulator/model-store.js';

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
