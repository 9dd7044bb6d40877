import { expect, test } from '@jest/globals';
import { JOB_STATES, JOB_TRANSITIONS, isEnded } from './job-state.js';

test('only a retry leaves an ended state', () => {
  const exits = JOB_STATES.filter(isEnded).map((state) => [state, JOB_TRANSITIONS[state]]);
  expect(exits).toEqual([
    ['COMPLETED', []],
    ['FAILED', ['IN_QUEUE']],
    ['CANCELLED', []],
    ['TIMED_OUT', ['IN_QUEUE']],
  ]);
});
