import { READER_CURSOR_MS } from '@berth/payloads';
import { ManualClock } from '../src/clock/manual-clock.js';
import {
  blobsConformance,
  chunksConformance,
  readerCursorsConformance,
  type Conforming,
} from '../src/conformance/index.js';
import { ModelPayloads } from '../src/payloads/model-payloads.js';
import { ModelReaderCursors } from '../src/payloads/model-reader-cursors.js';

/** The models are held to what a real broker does, by the same suites. */
const opened =
  <Port>(make: (clock: ManualClock) => Port) =>
  async (): Promise<Conforming<Port>> => {
    const clock = new ManualClock();
    return { port: make(clock), elapse: (ms: number) => clock.advance(ms) };
  };

blobsConformance(
  'the model',
  opened((clock) => new ModelPayloads(clock).blobs),
);
chunksConformance(
  'the model',
  opened((clock) => new ModelPayloads(clock).chunks),
);
readerCursorsConformance(
  'the model',
  opened((clock) => new ModelReaderCursors(clock)),
  READER_CURSOR_MS,
);
