import { PlatformError, type EndpointId } from '@berth/domain';
import { ManualClock, SeededRandom, letRun } from '@berth/testing';
import { expect, test } from '@jest/globals';
import type { AppendSettlement } from '../src/commit/settle-append.js';
import { settleAppend, type AppendOutcome, type LogBatch, type LogEntry, type LogIndex } from '../src/index.js';

const INDEX: LogIndex = {
  dueAtMs: null,
  waitingNormal: 0,
  waitingLow: 0,
  oldestQueuedAtMs: null,
  running: 0,
  runningLow: 0,
  living: 0,
};
const OURS: LogBatch = {
  endpointId: 'ep-1' as EndpointId,
  after: 5,
  batchId: 'ours',
  index: INDEX,
  facts: new Uint8Array([1]),
};
const stored = (batchId: string): LogEntry => ({ sequence: 8, after: 5, batchId, index: INDEX, facts: OURS.facts });

const STORED: AppendOutcome = { kind: 'stored', sequence: 8 };
const CONFLICT: AppendOutcome = { kind: 'conflict' };
const FULL: AppendOutcome = { kind: 'full' };
const UNKNOWN: AppendOutcome = { kind: 'unknown', reason: 'silence' };
const SILENT = new PlatformError('service-unavailable', 'No answer.');

type Step = readonly [AppendOutcome, (LogEntry | null | Error)?];

/** A broker that answers each append, and the question after it, as told; the last step for ever. */
async function settle(
  steps: readonly Step[],
): Promise<{ settlement: AppendSettlement | undefined; sent: LogBatch[]; asked: number }> {
  const clock = new ManualClock();
  const sent: LogBatch[] = [];
  let asked = 0;
  const stop = new AbortController();
  const step = (): Step => steps[Math.min(sent.length, steps.length) - 1] ?? [UNKNOWN];
  const broker = {
    append: (batch: LogBatch) => {
      sent.push(batch);
      return Promise.resolve(step()[0]);
    },
    readNext: (endpointId: EndpointId, after: number) => {
      asked += 1;
      expect({ endpointId, after }).toEqual({ endpointId: OURS.endpointId, after: OURS.after });
      const answer = step()[1] ?? null;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  let settlement: AppendSettlement | undefined;
  const done = settleAppend({ broker, clock, random: new SeededRandom(1) }, OURS, { signal: stop.signal }).then(
    (result) => (settlement = result),
  );
  done.catch(() => undefined);
  for (let turn = 0; turn < 20 && settlement === undefined; turn += 1) {
    await letRun();
    await clock.advance(200);
  }
  const found = settlement;
  stop.abort();
  await done;
  for (const batch of sent) expect(batch).toBe(OURS);
  return { settlement: found, sent, asked };
}

test.each<[string, readonly Step[], AppendSettlement, number]>([
  ['it is stored at once', [[STORED]], { kind: 'committed', sequence: 8 }, 1],
  [
    'its answer was lost, and it is there',
    [[UNKNOWN], [CONFLICT, stored('ours')]],
    { kind: 'committed', sequence: 8 },
    2,
  ],
  ['its answer was lost, and it is not there', [[UNKNOWN], [STORED]], { kind: 'committed', sequence: 8 }, 2],
  ['a conflict with its own earlier copy', [[CONFLICT, stored('ours')]], { kind: 'committed', sequence: 8 }, 1],
  ['a conflict with nothing', [[CONFLICT, null], [CONFLICT, null], [STORED]], { kind: 'committed', sequence: 8 }, 3],
  ['somebody else was first', [[CONFLICT, stored('theirs')]], { kind: 'lost-to', entry: stored('theirs') }, 1],
  [
    'somebody else was first, and nobody said so',
    [[UNKNOWN], [CONFLICT, stored('theirs')]],
    { kind: 'lost-to', entry: stored('theirs') },
    2,
  ],
  [
    'what is in its place is no batch',
    [[CONFLICT, { sequence: 8, unreadable: 'x' }]],
    { kind: 'lost-to', entry: { sequence: 8, unreadable: 'x' } },
    1,
  ],
  [
    'nobody tells of the place',
    [
      [CONFLICT, SILENT],
      [CONFLICT, stored('ours')],
    ],
    { kind: 'committed', sequence: 8 },
    2,
  ],
  ['there is no room', [[FULL, null]], { kind: 'full' }, 1],
  [
    'there is no room, after a conflict with nothing',
    [
      [CONFLICT, null],
      [FULL, null],
    ],
    { kind: 'full' },
    2,
  ],
  [
    'there is no room, and first nobody tells of the place',
    [
      [FULL, SILENT],
      [FULL, null],
    ],
    { kind: 'full' },
    2,
  ],
  [
    'there is no room behind its own earlier copy',
    [[UNKNOWN], [FULL, stored('ours')]],
    { kind: 'committed', sequence: 8 },
    2,
  ],
  [
    'there is no room for a second copy while the first may come',
    [[UNKNOWN], [FULL, null], [FULL, stored('ours')]],
    { kind: 'committed', sequence: 8 },
    3,
  ],
])('%s', async (_, ...[steps, settlement, sent]) => {
  const result = await settle(steps);
  expect(result.settlement).toEqual(settlement);
  expect(result.sent).toHaveLength(sent);
});

test('it goes on until it is known, and gives up only when it is told to', async () => {
  const { asked, settlement, sent } = await settle([[UNKNOWN]]);
  expect(settlement).toBeUndefined();
  expect(sent.length).toBeGreaterThan(10);
  // Where no leader takes the batch none tells of its place either, and every endpoint would ask at once.
  expect(asked).toBe(0);
});

test('a fault ends it, and is not taken for silence', async () => {
  const reason = 'TypeError: a fault';
  expect((await settle([[CONFLICT, new TypeError('a fault')]])).settlement).toEqual({ kind: 'fault', reason });
  expect((await settle([[{ kind: 'fault', reason: 'no batch' }]])).settlement).toEqual({
    kind: 'fault',
    reason: 'no batch',
  });
});
