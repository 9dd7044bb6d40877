import { expect, test } from '@jest/globals';
import { rolloutOf } from './rollout.js';

test.each([
  [[], { inProgress: false, workersOnLatest: 0, workersTotal: 0, percentOnLatest: 100, state: 'none' }],
  [[3, 3], { inProgress: false, workersOnLatest: 2, workersTotal: 2, percentOnLatest: 100, state: 'done' }],
  [[2, 3, 3], { inProgress: true, workersOnLatest: 2, workersTotal: 3, percentOnLatest: 66, state: 'rolling' }],
  [[1], { inProgress: true, workersOnLatest: 0, workersTotal: 1, percentOnLatest: 0, state: 'rolling' }],
])('workers of releases %j, the latest being 3', (releases, expected) => {
  expect(
    rolloutOf(
      releases.map((release) => ({ release, observed: null })),
      3,
    ),
  ).toEqual({ ...expected, reason: '' });
});
