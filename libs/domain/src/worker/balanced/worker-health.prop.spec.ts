import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  afterCheck,
  afterConnectionError,
  afterRest,
  newHealth,
  nextCheckInMs,
  type HealthAnswer,
  type WorkerHealth,
} from './worker-health.js';

const READY: HealthAnswer = { kind: 'ready', words: 'answered 200', port: 80 };
const INITIALIZING: HealthAnswer = { kind: 'initializing', words: 'answered 204', port: 8_000 };
const FAILED: HealthAnswer = { kind: 'failed', words: 'answered 500' };

const checked = (...answers: readonly HealthAnswer[]): WorkerHealth =>
  answers.reduce((health, answer, index) => afterCheck(health, answer, index), newHealth(0));

describe('checks', () => {
  test('one good answer is enough', () => {
    expect(checked(READY).standing).toBe('in');
    expect(checked(FAILED, FAILED, READY).standing).toBe('in');
  });

  test('two failures in a row are too many, one is not', () => {
    expect(checked(READY, FAILED).standing).toBe('in');
    expect(checked(READY, FAILED, READY, FAILED).standing).toBe('in');
    expect(checked(READY, FAILED, FAILED)).toMatchObject({ standing: 'out', sinceMs: 2, words: 'answered 500' });
    expect(checked(READY, FAILED, FAILED, FAILED)).toMatchObject({ standing: 'out', sinceMs: 2 });
  });

  test('one that says that it is not there yet gets nothing, at once', () => {
    expect(checked(READY, INITIALIZING).standing).toBe('initializing');
  });

  test('of one that has not been checked nothing is known', () => {
    expect(checked().standing).toBe('unknown');
    expect(checked(FAILED).standing).toBe('unknown');
  });

  test('the port is the one that was answered on last, whatever has failed since', () => {
    expect(checked(FAILED).answeredOn).toBeNull();
    expect(checked(INITIALIZING).answeredOn).toBe(8_000);
    expect(checked(INITIALIZING, READY, FAILED, FAILED).answeredOn).toBe(80);
  });

  test('they are frequent until the first good one', () => {
    const delays = [checked(), checked(FAILED), checked(FAILED, INITIALIZING), checked(FAILED, FAILED, FAILED)];
    expect(delays.map(nextCheckInMs)).toEqual([250, 250, 500, 1_000]);
    expect(nextCheckInMs(checked(FAILED, READY))).toBe(5_000);
    expect(nextCheckInMs(checked(READY, FAILED, FAILED))).toBe(5_000);
  });
});

describe('connections that fail', () => {
  const failing = (health: WorkerHealth, ...atMs: readonly number[]): WorkerHealth =>
    atMs.reduce((each, nowMs) => afterConnectionError(each, 'refused', nowMs), health);

  test('three within ten seconds put it out', () => {
    expect(failing(checked(READY), 0, 5_000).standing).toBe('in');
    expect(failing(checked(READY), 0, 5_000, 9_999)).toMatchObject({ standing: 'out', words: 'refused' });
    expect(failing(checked(READY), 0, 5_000, 10_000).standing).toBe('in');
  });

  test('a good check brings it back and forgets them', () => {
    const back = afterCheck(failing(checked(READY), 1, 2, 3), READY, 4);
    expect(back.standing).toBe('in');
    expect(failing(back, 5, 6).standing).toBe('in');
  });

  test('a pause forgets what failed before it', () => {
    const rested = afterRest(failing(checked(READY, FAILED), 1, 2), 100);
    expect(afterCheck(rested, FAILED, 101).standing).toBe('in');
    expect(failing(rested, 101, 102).standing).toBe('in');
  });
});

const events = fc.array(
  fc.record({ what: fc.constantFrom(READY, INITIALIZING, FAILED, null), afterMs: fc.nat(6_000) }),
  { maxLength: 50 },
);

test('it is in only after a good check that fewer than two failures and three lost connections have followed', () => {
  fc.assert(
    fc.property(events, (story) => {
      let health = newHealth(0);
      let nowMs = 0;
      let failures = 0;
      let isGood = false;
      for (const { afterMs, what } of story) {
        nowMs += afterMs;
        health = what === null ? afterConnectionError(health, 'refused', nowMs) : afterCheck(health, what, nowMs);
        if (what === READY) [failures, isGood] = [0, true];
        if (what === INITIALIZING) [failures, isGood] = [0, false];
        if (what === FAILED) failures += 1;
        if (failures >= 2) isGood = false;
        if (health.standing === 'in') expect(isGood).toBe(true);
        expect(health.connectionErrorsAtMs.length).toBeLessThanOrEqual(3);
        expect(health.sinceMs).toBeLessThanOrEqual(nowMs);
      }
    }),
  );
});
