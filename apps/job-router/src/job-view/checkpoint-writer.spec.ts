import type { EndpointId } from '@berth/domain';
import type { CounterCheckpoint } from '@berth/messaging';
import { silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { CHECKPOINT_INTERVAL_MS, CheckpointWriter, SETTLE_MS } from './checkpoint-writer.service.js';
import { CountLedger } from './count-ledger.js';

let clock: ManualClock;
let ledger: CountLedger;
let writer: CheckpointWriter;
let written: CounterCheckpoint[];
let feed: { isWhole: boolean; evSequence: number };
let hasOtherWritten: boolean;

const endpoint = 'ep' as EndpointId;

beforeEach(() => {
  clock = new ManualClock();
  ledger = new CountLedger();
  written = [];
  feed = { isWhole: true, evSequence: 7 };
  hasOtherWritten = false;
  ledger.restore({
    recordSequences: [3],
    endpoints: new Map([[endpoint, { completed: 4, failed: 0, cancelled: 0, timedOut: 0, retried: 1 }]]),
  });
  ledger.becomeWhole();
  writer = new CheckpointWriter({
    ledger,
    clock,
    logger: silentLogger,
    feed: {
      get isWhole() {
        return feed.isWhole;
      },
      get evSequence() {
        return feed.evSequence;
      },
      checkpoints: {
        hasOtherWritten: async () => hasOtherWritten,
        write: async (checkpoint) => {
          written.push(checkpoint);
        },
      },
    },
  });
});

const settled = async (): Promise<void> => {
  await clock.advance(SETTLE_MS);
};
const evSequences = (): readonly number[] => written.map(({ evSequence }) => evSequence);

describe('the writer of checkpoints', () => {
  test('writes what has settled, with its place in the events, and again only when there is news', async () => {
    writer.start();
    await settled();
    expect(written).toMatchObject([{ evSequence: 7, recordSequences: [3] }]);
    expect(written[0]?.endpoints.get(endpoint)).toMatchObject({ completed: 4, retried: 1 });
    await clock.advance(CHECKPOINT_INTERVAL_MS + SETTLE_MS);
    expect(evSequences()).toEqual([7]);
    feed.evSequence = 9;
    await clock.advance(CHECKPOINT_INTERVAL_MS);
    await settled();
    expect(evSequences()).toEqual([7, 9]);
  });

  test('leaves it to another router that does, and takes over when that one does no more', async () => {
    hasOtherWritten = true;
    writer.start();
    await settled();
    expect(written).toEqual([]);
    hasOtherWritten = false;
    await clock.advance(CHECKPOINT_INTERVAL_MS);
    await settled();
    expect(evSequences()).toEqual([7]);
  });

  test('writes nothing of a view that was not whole all the while', async () => {
    writer.start();
    ledger.interrupt();
    await settled();
    expect(written).toEqual([]);
  });

  test('writes at the end, too', async () => {
    feed.isWhole = false;
    writer.start();
    feed.isWhole = true;
    const stopped = writer.stop();
    await settled();
    await stopped;
    expect(evSequences()).toEqual([7]);
  });
});
