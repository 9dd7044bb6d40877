import { expect, test } from '@jest/globals';
import { sampleWorker, type WorkerFacts } from '../../test/worker/sample-worker.js';
import type { EndpointId, HostId } from '../ids.js';
import type { Worker } from '../worker/index.js';
import { suspectHosts } from './suspect-hosts.js';

type Where = readonly [endpoint: string, host: string, facts?: WorkerFacts, failedOn?: readonly string[]];

const FAILING: WorkerFacts = { phase: 'waiting', failedStarts: 3 };

const worker = ([endpointId, hostId, facts = FAILING, failedOn = []]: Where, index: number): Worker => ({
  ...sampleWorker(`w${index}`, facts).worker,
  ...{ endpointId: endpointId as EndpointId, hostId: hostId as HostId },
  ...(failedOn.length === 0 ? {} : { failedOn: failedOn as HostId[] }),
});

const UP: WorkerFacts = { phase: 'idle' };

test.each<[string, readonly Where[], readonly string[]]>([
  [
    'three endpoints fail on it',
    [
      ['a', 'h1'],
      ['b', 'h1'],
      ['c', 'h1'],
    ],
    ['h1'],
  ],
  [
    'two do not suffice',
    [
      ['a', 'h1'],
      ['b', 'h1'],
    ],
    [],
  ],
  [
    'many workers of one endpoint do not',
    [
      ['a', 'h1'],
      ['a', 'h1'],
      ['a', 'h1'],
      ['a', 'h1'],
    ],
    [],
  ],
  [
    'one that fails on a second host too speaks against neither',
    [
      ['a', 'h1'],
      ['b', 'h1'],
      ['c', 'h1'],
      ['c', 'h2'],
    ],
    [],
  ],
  [
    'those that failed too seldom do not count',
    [
      ['a', 'h1'],
      ['b', 'h1'],
      ['c', 'h1', { phase: 'waiting', failedStarts: 2 }],
    ],
    [],
  ],
  [
    'those that were moved and are well elsewhere count',
    [
      ['a', 'h2', UP, ['h1']],
      ['b', 'h3', UP, ['h1']],
      ['c', 'h1'],
    ],
    ['h1'],
  ],
])('%s', (...[, workers, expected]) => {
  const suspects = suspectHosts(workers.map(worker));
  expect([...suspects.keys()]).toEqual(expected);
  for (const reason of suspects.values())
    expect(reason).toBe('workers of 3 endpoints fail on it, and on no other host');
});
