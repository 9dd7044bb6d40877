import type { LogEntry } from '@berth/endpoint-log';
import { describe, expect, test } from '@jest/globals';
import { decideSkip } from './skip-decision.js';

const FACT = '{"kind":"opened","atMs":1,"term":1,"routerId":"r"}';
const INDEX = {
  ...{ dueAtMs: null, waitingNormal: 0, waitingLow: 0, oldestQueuedAtMs: null, running: 0, runningLow: 0, living: 0 },
};
const batch = (text: string): LogEntry => ({
  ...{ sequence: 7, after: 5, batchId: 'b', index: INDEX },
  facts: new TextEncoder().encode(text),
});
const LITTER: LogEntry = { sequence: 7, unreadable: 'it is no batch' };
const inspected = (entry: LogEntry, format: number | null = 1) => ({ entry, bytes: 9, format });

describe('an entry may be removed', () => {
  test('where it is the last, and no batch', () => {
    const litter = inspected(LITTER, null);
    expect(decideSkip(litter, null)).toEqual({ kind: 'removable', why: 'it is no batch', inspected: litter });
  });

  test('where it is the last, and a line of it is no fact', () => {
    const harmed = inspected(batch(`${FACT}\n{`));
    expect(decideSkip(harmed, null)).toEqual({
      ...{ kind: 'removable', why: '1 of its 2 lines is no fact', inspected: harmed },
    });
  });

  test.each([
    { where: 'it is none of the endpoint’s', entry: null, behind: null, why: /no batch of this endpoint/ },
    { where: 'it can be read, whatever it says', entry: inspected(batch(FACT)), behind: null, why: /can be read/ },
    { where: 'another version may read it', entry: inspected(LITTER, 2), behind: null, why: /of format 2/ },
    { where: 'it is not last', entry: inspected(LITTER, null), behind: batch(FACT), why: /^#7 lies behind it/ },
  ])('but not where $where', ({ behind, entry, why }) => {
    expect(decideSkip(entry, behind)).toEqual({ kind: 'refused', why: expect.stringMatching(why) });
  });
});
