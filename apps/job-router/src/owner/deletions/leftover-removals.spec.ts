import { PlatformError, type EndpointId, type JobId, type JobKey, type Leftovers } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { ManualClock, SeededRandom, letRun } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { LeftoverRemovals } from './leftover-removals.js';

const ALL: Leftovers = { of: 'job' };
const keyOf = (endpointId: string, job: number): JobKey => ({
  endpointId: endpointId as EndpointId,
  jobId: `${endpointId}-j${job}` as JobId,
});

let clock: ManualClock;
let removed: string[];
let over: Record<string, number>;
let failures: number;
let held: PromiseWithResolvers<void> | null;
let removals: LeftoverRemovals;

beforeEach(() => {
  clock = new ManualClock();
  [removed, over, failures, held] = [[], {}, 0, null];
  removals = new LeftoverRemovals({
    attachments: {
      remove: async ({ jobId }) => {
        removed.push(jobId);
        await held?.promise;
        if ((failures -= 1) >= 0) throw new PlatformError('service-unavailable', 'The broker does not answer.');
      },
    },
    ...{ clock, random: new SeededRandom(1), logger: silentLogger },
    onOver: (outcome) => {
      over[outcome] = (over[outcome] ?? 0) + 1;
    },
  });
});
afterEach(() => removals.stop());

describe('what is needed no more', () => {
  test('is removed in the background, a few at a time', async () => {
    held = Promise.withResolvers();
    for (let job = 0; job < 6; job += 1) removals.add(keyOf('e1', job), ALL);
    await letRun();
    expect([removed.length, removals.waiting]).toEqual([4, 2]);
    held.resolve();
    await letRun();
    expect([removed.length, removals.waiting, over]).toEqual([6, 0, { removed: 6 }]);
  });

  test('is removed of each endpoint in turn', async () => {
    held = Promise.withResolvers();
    for (let job = 0; job < 8; job += 1) removals.add(keyOf('many', job), ALL);
    for (let job = 0; job < 2; job += 1) removals.add(keyOf('few', job), ALL);
    held.resolve();
    await letRun();
    expect(removed.slice(4, 8)).toEqual(['many-j4', 'few-j0', 'many-j5', 'few-j1']);
    expect(removed).toHaveLength(10);
  });

  test('is asked for again where the broker does not answer, and less and less often', async () => {
    failures = 2;
    removals.add(keyOf('e1', 1), ALL);
    await letRun();
    expect(removed).toHaveLength(1);
    await clock.advance(1_300);
    expect(removed).toHaveLength(2);
    await clock.advance(2_500);
    expect([removed.length, over]).toEqual([3, { removed: 1 }]);
  });

  test('is left to its time to live where the broker stays away', async () => {
    failures = Number.POSITIVE_INFINITY;
    removals.add(keyOf('e1', 1), ALL);
    await clock.advance(120_000);
    expect([removed.length, over]).toEqual([6, { 'given-up': 1 }]);
    failures = 0;
    removals.add(keyOf('e1', 2), ALL);
    await letRun();
    expect(over).toEqual({ 'given-up': 1, removed: 1 });
  });

  test('is left to its time to live where too much waits already: one endpoint has its share', async () => {
    held = Promise.withResolvers();
    for (let job = 0; job < 5_010; job += 1) removals.add(keyOf('e1', job), ALL);
    expect([removals.waiting, over]).toEqual([5_000, { 'crowded-out': 6 }]);
    removals.add(keyOf('e2', 1), ALL);
    expect(removals.waiting).toBe(5_001);
    held.resolve();
  });
});

test('whoever stops begins nothing more, and asks once more at most for what is under way', async () => {
  failures = Number.POSITIVE_INFINITY;
  for (let job = 0; job < 10; job += 1) removals.add(keyOf('e1', job), ALL);
  await letRun();
  await removals.stop();
  expect([new Set(removed).size, removals.waiting]).toEqual([4, 0]);
  expect(removed.length).toBeLessThanOrEqual(8);
  removals.add(keyOf('e1', 11), ALL);
  expect(over).toEqual({ 'given-up': 4, 'crowded-out': 1 });
});
