import { describe, expect, test } from '@jest/globals';
import { NOW_MS, sampleWorker } from '../../test/worker/sample-worker.js';
import { operationLines } from '../../test/worker/operation-lines.js';
import type { HostedWorker } from './hosted-worker.js';
import { planEndpoint, type EndpointView } from './plan-endpoint.js';

const worker = sampleWorker;
const NOW = NOW_MS;

const view = (fields: Partial<EndpointView> = {}): EndpointView => ({
  isDeleted: false,
  release: 1,
  desiredWorkers: 0,
  workersMax: 3,
  workers: [],
  observingSinceMs: 0,
  ...fields,
});

const plan = (fields: Partial<EndpointView>): readonly string[] => operationLines(planEndpoint(view(fields), NOW));

describe('growth', () => {
  test.each<[string, Partial<EndpointView>, readonly string[]]>([
    ['nothing wanted, nothing there', {}, []],
    ['from zero', { desiredWorkers: 2 }, ['create 1', 'create 1']],
    ['only what is missing', { desiredWorkers: 2, workers: [worker('a', { phase: null })] }, ['create 1']],
    ['the latest release', { desiredWorkers: 1, release: 7 }, ['create 7']],
    [
      'draining workers count towards the maximum',
      { desiredWorkers: 3, workers: [worker('a', { intent: 'drained' }), worker('b', { intent: 'drained' })] },
      ['create 1'],
    ],
    [
      'an unhealthy worker stands for a wanted one',
      { desiredWorkers: 1, workers: [worker('a', { phase: 'unhealthy' })] },
      [],
    ],
    ['never above the maximum, whatever is desired', { desiredWorkers: 9, workersMax: 2 }, ['create 1', 'create 1']],
  ])('%s', (...[, fields, expected]) => {
    expect(plan(fields)).toEqual(expected);
  });
});

describe('scale-down', () => {
  test.each<[string, Partial<EndpointView>, readonly string[]]>([
    [
      'takes the newest idle worker',
      { desiredWorkers: 1, workers: [worker('a', { createdAtMs: 1 }), worker('b', { createdAtMs: 2 })] },
      ['drain b scale-down'],
    ],
    [
      'never a busy one',
      {
        desiredWorkers: 0,
        workers: [worker('a', { phase: 'busy', createdAtMs: 2 }), worker('b', { createdAtMs: 1 })],
      },
      ['drain b scale-down'],
    ],
    ['even if nothing else is there', { desiredWorkers: 0, workers: [worker('a', { phase: 'busy' })] }, []],
    [
      'first what serves nobody, then what is not warm',
      {
        desiredWorkers: 1,
        workers: [
          worker('idle', { createdAtMs: 9 }),
          worker('starting', { phase: 'starting', createdAtMs: 1 }),
          worker('waiting', { phase: 'waiting' }),
          worker('unhealthy', { phase: 'unhealthy' }),
          worker('new', { phase: null, createdAtMs: 8 }),
        ],
      },
      ['drain unhealthy scale-down', 'drain waiting scale-down', 'drain new scale-down', 'drain starting scale-down'],
    ],
    [
      'a lower maximum takes idle workers at once',
      { desiredWorkers: 1, workersMax: 1, workers: [worker('a'), worker('b', { phase: 'busy' })] },
      ['drain a scale-down'],
    ],
  ])('%s', (...[, fields, expected]) => {
    expect(plan(fields)).toEqual(expected);
  });
});

describe('workers that are gone', () => {
  test.each<[string, Partial<EndpointView>, readonly string[]]>([
    [
      'a lost host loses its workers, which are replaced',
      { desiredWorkers: 1, workersMax: 1, workers: [worker('a', { phase: 'busy', lastSeenAtMs: NOW - 30_000 })] },
      ['forget a host-lost', 'create 1'],
    ],
    [
      'a host that is silent for less keeps them',
      { desiredWorkers: 1, workers: [worker('a', { lastSeenAtMs: NOW - 29_999 })] },
      [],
    ],
    [
      'a removed host has none',
      { desiredWorkers: 1, workers: [{ ...worker('a'), host: null }] },
      ['forget a host-removed', 'create 1'],
    ],
    [
      'a drained worker is forgotten once nothing is left of it',
      { workers: [worker('a', { intent: 'drained', phase: 'removed' })] },
      ['forget a removed'],
    ],
    [
      'drained and still there: nothing to do but wait',
      { workers: [worker('a', { intent: 'drained', phase: 'draining' })] },
      [],
    ],
    [
      'nobody is lost to a loop that has only just begun to listen',
      {
        desiredWorkers: 2,
        observingSinceMs: NOW - 29_999,
        workers: [worker('a', { lastSeenAtMs: 0 }), worker('b', { lastSeenAtMs: null })],
      },
      [],
    ],
  ])('%s', (...[, fields, expected]) => {
    expect(plan(fields)).toEqual(expected);
  });
});

describe('leaving', () => {
  test('a deleted endpoint drains everything and creates nothing', () => {
    const workers = [worker('a'), worker('b', { phase: 'busy' }), worker('c', { intent: 'drained' })];
    expect(plan({ isDeleted: true, desiredWorkers: 3, workers })).toEqual([
      'drain a endpoint-deleted',
      'drain b endpoint-deleted',
    ]);
  });

  test('a draining host gives its workers away once others are up, a cordoned one keeps them', () => {
    const workers = [worker('a', { hostIntent: 'draining', phase: 'busy' }), worker('b', { hostIntent: 'cordoned' })];
    expect(plan({ desiredWorkers: 2, workers })).toEqual(['create 1']);
    const coming = [...workers, worker('c', { phase: 'starting' })];
    expect(plan({ desiredWorkers: 2, workers: coming })).toEqual([]);
    expect(plan({ desiredWorkers: 2, workers: [...workers, worker('c')] })).toEqual(['drain a host-draining']);
  });

  test('a draining host gives its workers away at once where the maximum has no room for others', () => {
    const workers = [worker('a', { hostIntent: 'draining', phase: 'busy' })];
    expect(plan({ desiredWorkers: 1, workersMax: 1, workers })).toEqual(['drain a host-draining']);
  });
});

test('a rollout with one worker at most, step by step', () => {
  const steps: readonly [readonly HostedWorker[], readonly string[]][] = [
    [[worker('a', { phase: 'busy' })], ['drain a stale-release']],
    [[worker('a', { phase: 'busy', intent: 'drained' })], []],
    [[worker('a', { phase: 'draining', intent: 'drained' })], []],
    [[worker('a', { phase: 'removed', intent: 'drained' })], ['forget a removed', 'create 2']],
    [[worker('b', { phase: null, release: 2 })], []],
  ];
  for (const [workers, expected] of steps) {
    expect(plan({ release: 2, workersMax: 1, desiredWorkers: 1, workers })).toEqual(expected);
  }
});
