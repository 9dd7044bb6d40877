import type { HostIntent } from '../../src/host/index.js';
import type { EndpointId, HostId, WorkerId } from '../../src/ids.js';
import type { HostedWorker, ObservedWorker, WorkerIntent, WorkerPhase } from '../../src/worker/index.js';

export const NOW_MS = 1_000_000;

export interface WorkerFacts {
  /** Null: its host has not reported it yet. */
  readonly phase?: WorkerPhase | null;
  readonly intent?: WorkerIntent;
  readonly release?: number;
  readonly failedStarts?: number;
  readonly restarts?: number;
  readonly createdAtMs?: number;
  readonly hostIntent?: HostIntent;
  readonly lastSeenAtMs?: number | null;
}

export const observedAs = (
  id: string,
  { failedStarts = 0, phase, release = 1 }: WorkerFacts & { readonly phase: WorkerPhase },
): ObservedWorker => ({
  ...{ workerId: id as WorkerId, endpointId: 'e' as EndpointId, release, phase },
  ...{ reason: failedStarts === 0 ? '' : `${failedStarts} failed starts`, runningJobs: phase === 'busy' ? 1 : 0 },
  ...{ failedStarts, phaseSinceMs: NOW_MS, startedAtMs: null, gpuTypeId: null },
});

/** Idle, of release 1, on a host that is well, unless something else is said. */
export function sampleWorker(id: string, facts: WorkerFacts = {}): HostedWorker {
  const { createdAtMs = 0, hostIntent = 'ready', intent = 'running', phase = 'idle', release = 1, restarts } = facts;
  return {
    worker: {
      ...{ id: id as WorkerId, endpointId: 'e' as EndpointId, hostId: 'h' as HostId, release, intent, createdAtMs },
      resources: { vcpus: 1, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 },
      observed: phase === null ? null : observedAs(id, { ...facts, phase, release }),
      ...(restarts === undefined ? {} : { restarts }),
    },
    host: { intent: hostIntent, lastSeenAtMs: facts.lastSeenAtMs === undefined ? NOW_MS : facts.lastSeenAtMs },
  };
}
