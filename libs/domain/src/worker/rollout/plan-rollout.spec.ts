import { describe, expect, test } from '@jest/globals';
import { operationLines } from '../../../test/worker/operation-lines.js';
import { NOW_MS, sampleWorker } from '../../../test/worker/sample-worker.js';
import type { HostedWorker } from '../hosted-worker.js';
import { planEndpoint, type EndpointView } from '../plan-endpoint.js';
import type { WorkerPhase } from '../worker.js';
import type { ReleaseStarts } from './release-starts.js';

const failing = (id: string, phase: WorkerPhase, failedStarts: number): HostedWorker =>
  sampleWorker(id, { phase, failedStarts, release: 2 });

function plan(fields: Partial<EndpointView>): readonly string[] {
  const view = { isDeleted: false, release: 1, desiredWorkers: 0, workersMax: 3, workers: [], observingSinceMs: 0 };
  return operationLines(planEndpoint({ ...view, ...fields }, NOW_MS));
}

describe('a new release', () => {
  test.each<[string, Partial<EndpointView>, readonly string[]]>([
    [
      'begins with one worker beside the old ones, where the maximum has room',
      { release: 2, desiredWorkers: 2, workers: [sampleWorker('a'), sampleWorker('b', { phase: 'busy' })] },
      ['create 2'],
    ],
    [
      'takes the place of one old worker where the maximum has none: an idle one, the newest',
      {
        ...{ release: 2, desiredWorkers: 3 },
        workers: [
          sampleWorker('a', { createdAtMs: 1 }),
          sampleWorker('b', { createdAtMs: 2 }),
          sampleWorker('c', { phase: 'busy' }),
        ],
      },
      ['drain b stale-release'],
    ],
    [
      'takes the place of one that has a job where all have one: it leaves after its job',
      {
        release: 2,
        desiredWorkers: 2,
        workersMax: 2,
        workers: ['a', 'b'].map((id) => sampleWorker(id, { phase: 'busy' })),
      },
      ['drain a stale-release'],
    ],
    [
      'creates its first worker once the old one has gone, and no second',
      {
        ...{ release: 2, workersMax: 2, desiredWorkers: 2 },
        workers: [sampleWorker('a', { intent: 'drained', phase: 'removed' }), sampleWorker('b', { phase: 'busy' })],
      },
      ['forget a removed', 'create 2'],
    ],
    [
      'waits for its first worker',
      {
        release: 2,
        desiredWorkers: 2,
        workers: [sampleWorker('a'), sampleWorker('b'), sampleWorker('c', { release: 2, phase: null })],
      },
      [],
    ],
    [
      'has its first worker up: one old one is not needed any more',
      {
        release: 2,
        desiredWorkers: 2,
        workers: [sampleWorker('a'), sampleWorker('b'), sampleWorker('c', { release: 2 })],
      },
      ['drain a stale-release'],
    ],
    [
      'simply starts where nothing of an older one is left',
      { release: 2, desiredWorkers: 2, workers: [] },
      ['create 2', 'create 2'],
    ],
    [
      'does not wait for old workers that fail',
      {
        release: 2,
        desiredWorkers: 1,
        workersMax: 2,
        workers: [sampleWorker('a', { phase: 'unhealthy', failedStarts: 7 })],
      },
      ['drain a stale-release', 'create 2'],
    ],
    [
      'brings nothing where nothing is wanted',
      { release: 2, desiredWorkers: 0, workers: [sampleWorker('a', { phase: 'busy' })] },
      [],
    ],
    [
      'leaves the workers of the latest release alone',
      { release: 2, desiredWorkers: 1, workers: [sampleWorker('a', { release: 2 })] },
      [],
    ],
  ])('%s', (...[, fields, expected]) => {
    expect(plan(fields)).toEqual(expected);
  });
});

describe('a release that is crash-looping', () => {
  const starts: ReleaseStarts = {
    ...{
      release: 2,
      hasBeenUp: false,
      failedStarts: 5,
      lastFailure: 'exit code 3',
      loopingSinceMs: NOW_MS - 1,
      counted: {},
    },
  };

  test.each<[string, Partial<EndpointView>, readonly string[]]>([
    [
      'keeps the worker that has failed most often, and frees what the others hold',
      {
        workers: [
          failing('a', 'waiting', 1),
          failing('b', 'unhealthy', 5),
          sampleWorker('c', { phase: null, release: 2 }),
        ],
      },
      ['drain a crash-loop', 'drain c crash-loop'],
    ],
    ['makes one worker where there is none', { workers: [] }, ['create 2']],
    ['makes no second one', { workers: [failing('a', 'waiting', 2)] }, []],
    ['makes none where none is wanted', { desiredWorkers: 0, workers: [] }, []],
    [
      'keeps every old worker, and takes no place from them',
      { workers: ['a', 'b', 'c'].map((id) => sampleWorker(id, { release: 1, phase: 'busy' })) },
      [],
    ],
    [
      'keeps nobody on a host that is drained',
      { workers: [sampleWorker('a', { release: 1, hostIntent: 'draining' }), failing('b', 'unhealthy', 5)] },
      ['drain a host-draining'],
    ],
  ])('%s', (...[, fields, expected]) => {
    expect(plan({ release: 2, desiredWorkers: 3, starts, ...fields })).toEqual(expected);
  });
});
