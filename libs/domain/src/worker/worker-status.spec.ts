import { expect, test } from '@jest/globals';
import { observedAs } from '../../test/worker/sample-worker.js';
import { WORKER_PHASES } from './worker-phase.js';
import { countStatuses, isUp, workerStatus } from './worker-status.js';

test('every phase has one status, and what takes jobs, or could at once, is up', () => {
  const table = WORKER_PHASES.map((phase) => {
    const observed = observedAs('w', { phase });
    return [phase, workerStatus(observed), isUp({ observed })];
  });
  expect(table).toEqual([
    ['preparing', 'INITIALIZING', false],
    ['starting', 'INITIALIZING', false],
    ['idle', 'IDLE', true],
    ['busy', 'RUNNING', true],
    ['paused', 'IDLE', true],
    ['draining', 'RUNNING', false],
    ['waiting', 'INITIALIZING', false],
    ['unhealthy', 'UNHEALTHY', false],
    ['removed', 'IDLE', false],
  ]);
});

test('counts are of all that is told: workers with a host, and those that no host has room for', () => {
  const workers = WORKER_PHASES.map((phase) => observedAs('w', { phase }));
  expect(countStatuses([...workers, null], { count: 2 })).toEqual({
    ...{ RUNNING: 2, IDLE: 2, INITIALIZING: 4, THROTTLED: 2, UNHEALTHY: 1 },
  });
  expect(countStatuses([], null).THROTTLED).toBe(0);
});

test('a worker whose starts fail is not throttled: it has a host', () => {
  const failing = [observedAs('w', { phase: 'waiting', failedStarts: 3 }), observedAs('v', { phase: 'unhealthy' })];
  expect(countStatuses(failing, null)).toMatchObject({ THROTTLED: 0, INITIALIZING: 1, UNHEALTHY: 1 });
});

test('a worker that its host has no room for is throttled, as one without a host is', () => {
  expect(workerStatus({ phase: 'waiting', lacksRoom: true })).toBe('THROTTLED');
  expect(workerStatus({ phase: 'waiting' })).toBe('INITIALIZING');
  const workers = [{ phase: 'unhealthy', lacksRoom: true }, { phase: 'unhealthy' }, null] as const;
  expect(countStatuses(workers, { count: 2 })).toEqual({
    RUNNING: 0,
    IDLE: 0,
    INITIALIZING: 1,
    THROTTLED: 3,
    UNHEALTHY: 1,
  });
});
