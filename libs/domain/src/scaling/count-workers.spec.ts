import { expect, test } from '@jest/globals';
import type { EndpointId, HostId, WorkerId } from '../ids.js';
import type { HostedWorker, ObservedWorker, WorkerIntent, WorkerPhase } from '../worker/index.js';
import { countWorkers, totalWorkers } from './count-workers.js';

const NOW = 1_000_000;

const hosted = (
  phase: WorkerPhase | null,
  { intent = 'running', lastSeenAtMs = NOW }: { intent?: WorkerIntent; lastSeenAtMs?: number } = {},
): HostedWorker => {
  const identity = { endpointId: 'e' as EndpointId, release: 1 };
  const observed: ObservedWorker | null =
    phase === null
      ? null
      : {
          ...identity,
          workerId: 'w' as WorkerId,
          phase,
          reason: '',
          runningJobs: 0,
          failedStarts: 0,
          phaseSinceMs: NOW,
          startedAtMs: null,
          gpuTypeId: null,
        };
  const resources = { vcpus: 1, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 };
  return {
    worker: { ...identity, id: 'w' as WorkerId, hostId: 'h' as HostId, intent, createdAtMs: 0, resources, observed },
    host: { intent: 'ready', lastSeenAtMs },
  };
};

test('counts workers by what they can do for a job that waits', () => {
  const workers = [
    hosted(null),
    hosted('preparing'),
    hosted('starting'),
    hosted('waiting'),
    hosted('idle'),
    hosted('idle'),
    hosted('busy'),
    hosted('unhealthy'),
  ];
  const counts = countWorkers(workers, 0, NOW);
  expect(counts).toEqual({ starting: 4, idle: 2, busy: 1, unhealthy: 1 });
  expect(totalWorkers(counts)).toBe(workers.length);
});

test('does not count workers that leave, have left, or are lost with their host', () => {
  const workers = [
    hosted('idle', { intent: 'drained' }),
    hosted('removed'),
    hosted('busy', { lastSeenAtMs: NOW - 30_000 }),
    { ...hosted('idle'), host: null },
  ];
  expect(totalWorkers(countWorkers(workers, 0, NOW))).toBe(0);
});
