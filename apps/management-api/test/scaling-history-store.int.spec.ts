import type { AccountId, DecisionRecord, EndpointId } from '@berth/domain';
import { beforeEach, expect, test } from '@jest/globals';
import { Database } from '../src/persistence/database.js';
import { ScalingHistoryLoop } from '../src/scaling-history/scaling-history-loop.js';
import { DECISIONS_MAX, ScalingHistoryStore } from '../src/scaling-history/scaling-history.store.js';
import { silentLogger } from '@berth/telemetry';
import { useFleetBench } from './fleet-bench.js';

const ACCOUNT = 'account' as AccountId;
const [E1, E2] = ['e1' as EndpointId, 'e2' as EndpointId];
const DAY_MS = 24 * 3_600_000;

const bench = useFleetBench();
let history: ScalingHistoryStore;

beforeEach(async () => {
  history = new ScalingHistoryStore(new Database(bench.source));
  for (const id of [E1, E2]) await bench.addEndpoint(id);
});

const decision = (endpointId: EndpointId, more: Partial<DecisionRecord> = {}): DecisionRecord => ({
  ...{ endpointId, atMs: bench.clock.nowMs(), desiredBefore: 0, desired: 1, reason: 'demand', detail: '1 queued' },
  inputs: { demand: { queued: 1, queuedLow: 0, running: 0, oldestWaitMs: 12 }, workers: { idle: 1, placed: 2 } },
  outcome: { created: 1, drained: 0, resumed: 0, forgotten: 0, unplaced: 0, unplacedReason: null },
  ...more,
});

const ordinals = async (endpointId: EndpointId, limit = 2_000): Promise<readonly number[]> =>
  (await history.list(ACCOUNT, endpointId, { limit })).map(({ ordinal }) => Number(ordinal));

test('what was appended is read as it was, the newest first, a page at a time, and by its account only', async () => {
  const entries = [0, 1, 2].map((desired) => decision(E1, { desired }));
  for (const entry of entries) await history.append(entry);
  await history.append(decision(E2, { inputs: { demand: null, workers: {} } }));
  const first = await history.list(ACCOUNT, E1, { limit: 2 });
  expect(first).toEqual([
    { ...entries[2], ordinal: '3' },
    { ...entries[1], ordinal: '2' },
  ]);
  const rest = await history.list(ACCOUNT, E1, { limit: 2, before: first.at(-1)?.ordinal ?? '' });
  expect(rest).toEqual([{ ...entries[0], ordinal: '1' }]);
  expect(await history.list('other' as AccountId, E1, { limit: 2 })).toEqual([]);
  expect((await history.list(ACCOUNT, E2, { limit: 2 }))[0]?.inputs).toEqual({ demand: null, workers: {} });
});

test('an endpoint has so many entries at most, whatever others have', async () => {
  await history.append(decision(E2));
  await bench.source.query(
    `INSERT INTO scaling_decisions (endpoint_id, ordinal, at, desired_before, desired, reason, detail, inputs, outcome)
     SELECT $1, i, now(), 0, 1, 'demand', '', '{}', '{}' FROM generate_series(1, $2::integer) AS i`,
    [E1, DECISIONS_MAX],
  );
  for (let more = 0; more < 2; more += 1) await history.append(decision(E1));
  const kept = await ordinals(E1);
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([DECISIONS_MAX, DECISIONS_MAX + 2, 3]);
  expect(await ordinals(E2)).toEqual([1]);
});

test('what is older than a day goes, by the leader alone', async () => {
  const nowMs = bench.clock.nowMs();
  for (const atMs of [nowMs - DAY_MS - 1, nowMs - DAY_MS + 5_000]) await history.append(decision(E1, { atMs }));
  let isLeader = false;
  const loop = new ScalingHistoryLoop({
    history,
    lease: { isLeader: () => isLeader },
    clock: bench.clock,
    logger: silentLogger,
  });
  loop.start();
  await bench.clock.advance(1_000);
  expect(await ordinals(E1)).toEqual([2, 1]);
  isLeader = true;
  await bench.clock.advance(60_000);
  await loop.stop();
  // Stopping waits for what has begun.
  expect((await ordinals(E1)).includes(1)).toBe(false);
});

test('the oldest go first, and no more at a time than was asked for', async () => {
  for (const ageMs of [3, 1, 2]) await history.append(decision(E1, { atMs: bench.clock.nowMs() - ageMs }));
  expect(await history.prune(bench.clock.nowMs(), 2)).toBe(2);
  expect(await ordinals(E1)).toEqual([2]);
  expect(await history.prune(bench.clock.nowMs(), 2)).toBe(1);
  expect(await history.prune(bench.clock.nowMs(), 2)).toBe(0);
});

test('it goes with its endpoint', async () => {
  await history.append(decision(E1));
  await bench.source.query('DELETE FROM endpoints WHERE id = $1', [E1]);
  expect(await bench.source.query('SELECT * FROM scaling_decisions')).toEqual([]);
});
