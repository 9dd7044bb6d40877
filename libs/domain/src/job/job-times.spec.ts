import { expect, test } from '@jest/globals';
import { jobTimes, type TimedJob } from './job-times.js';

const QUEUED = 1_000_000;
const NOW = QUEUED + 5_000;
const RUNS = { startedAtMs: QUEUED + 1_000 };

test.each<[string, TimedJob, { delayTime: number; executionTime: number }]>([
  ['that waits', { queuedAtMs: QUEUED, endedAtMs: null, current: null }, { delayTime: 5_000, executionTime: 0 }],
  ['that runs', { queuedAtMs: QUEUED, endedAtMs: null, current: RUNS }, { delayTime: 1_000, executionTime: 4_000 }],
  [
    'that has ended',
    { queuedAtMs: QUEUED, endedAtMs: QUEUED + 2_000, current: RUNS },
    { delayTime: 1_000, executionTime: 1_000 },
  ],
  [
    'that was cancelled while it waited',
    { queuedAtMs: QUEUED, endedAtMs: QUEUED + 2_000, current: null },
    { delayTime: 2_000, executionTime: 0 },
  ],
  [
    'by a clock that went back',
    { queuedAtMs: NOW + 50, endedAtMs: null, current: null },
    { delayTime: 0, executionTime: 0 },
  ],
])('the times of a job %s', (_what, job, expected) => {
  expect(jobTimes(job, NOW)).toEqual(expected);
});
