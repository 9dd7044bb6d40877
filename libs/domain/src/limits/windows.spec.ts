import { expect, test } from '@jest/globals';
import { countRequest, longestSpent, windowState, type Window } from './windows.js';

const MINUTE = { name: 'minute', quota: 60, seconds: 60 };
const HOUR = { name: 'hour', quota: 3_000, seconds: 3_600 };
/** 48 s into its minute, 29 min 48 s into its hour. */
const NOW = Date.UTC(2026, 0, 1, 11, 29, 48);
const minute = (used: number, startedAtMs = Date.UTC(2026, 0, 1, 11, 29)): Window => ({
  limit: MINUTE,
  use: { startedAtMs, used },
});
const hour = (used: number): Window => ({ limit: HOUR, use: { startedAtMs: Date.UTC(2026, 0, 1, 11), used } });

test('a request is counted in every window', () => {
  const { isAdmitted, uses } = countRequest([minute(0), hour(59)], NOW);
  expect({ isAdmitted, used: uses.map(({ used }) => used) }).toEqual({ isAdmitted: true, used: [1, 60] });
});

test('a request for which one window has no room is counted in none', () => {
  const { isAdmitted, uses } = countRequest([minute(60), hour(60)], NOW);
  expect({ isAdmitted, used: uses.map(({ used }) => used) }).toEqual({ isAdmitted: false, used: [60, 60] });
});

test('a window that is over is forgotten', () => {
  const { isAdmitted, uses } = countRequest([minute(60, Date.UTC(2026, 0, 1, 11, 28)), hour(60)], NOW);
  expect({ isAdmitted, uses }).toEqual({
    isAdmitted: true,
    uses: [
      { startedAtMs: Date.UTC(2026, 0, 1, 11, 29), used: 1 },
      { startedAtMs: Date.UTC(2026, 0, 1, 11), used: 61 },
    ],
  });
});

test.each([
  ['in the middle', NOW, 12],
  ['at its first instant', Date.UTC(2026, 0, 1, 11, 29), 60],
  ['in its last millisecond', Date.UTC(2026, 0, 1, 11, 29, 59, 999), 1],
  ['when a clock was ahead of ours', Date.UTC(2026, 0, 1, 11, 20), 60],
])('a window says how long it lasts: %s', (_, nowMs, resetSeconds) => {
  expect(windowState(minute(1), nowMs)).toMatchObject({ remaining: 59, resetSeconds });
});

test('a quota that was lowered below what is used leaves nothing, not less', () => {
  expect(windowState(minute(70), NOW)).toMatchObject({ remaining: 0 });
});

test('of several spent windows the one that lasts longest counts', () => {
  const states = (...windows: Window[]) => windows.map((each) => windowState(each, NOW));
  expect(longestSpent(states(minute(60), hour(3_000)))).toMatchObject({ name: 'hour', resetSeconds: 1_812 });
  expect(longestSpent(states(minute(60), hour(60)))).toMatchObject({ name: 'minute', resetSeconds: 12 });
  expect(longestSpent(states(minute(59), hour(60)))).toBeNull();
});
