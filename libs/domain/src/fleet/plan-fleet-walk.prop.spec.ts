import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import type { EndpointSpec, Scaling } from '../endpoint/index.js';
import type { Host } from '../host/index.js';
import type { AccountId, EndpointId, HostId, WorkerId } from '../ids.js';
import { GB_BYTES } from '../placement/index.js';
import { NO_DEMAND, type Demand } from '../scaling/index.js';
import type { ObservedWorker, Worker } from '../worker/index.js';
import { newFleetMemory } from './fleet-memory.js';
import { withOperation, type FleetOperation } from './fleet-operation.js';
import { planFleet } from './plan-fleet.js';

const START_MS = 10_000_000;
const PASSES = 240;
const SETTLED_AFTER = 180;
const EXECUTION_MS = 10_000;
const ENDPOINT_ID = 'e' as EndpointId;

const host: Host = {
  ...{ id: 'h' as HostId, name: '', dataCenterId: 'A', labels: {}, intent: 'ready', lastSeenAtMs: Infinity },
  inventory: {
    ...{ vcpus: 1_000, isOvercommitted: true, memoryBytes: GB_BYTES, diskBytes: GB_BYTES, gpus: [] },
    ...{ areGpusSimulated: false, cudaVersion: null, runtime: 'process', images: [] },
  },
};

const specOf = (scaling: Scaling, min: number, max: number): EndpointSpec => ({
  ...{ name: 'echo', type: 'QUEUE', scaling, gpu: null, cpu: [{ flavorId: 'cpu3c', vcpuCount: 2 }] },
  container: { image: 'echo', args: '', diskGb: null, env: {}, ports: [], registryId: null },
  workers: { min, max, idleTimeoutSeconds: scaling.type === 'QUEUE_DELAY' ? 5 : null },
  ...{ dataCenterIds: [], networkVolumeIds: [], flashboot: 'OFF', executionTimeoutMs: 300_000 },
});

/** Always as many jobs: where one ends another comes at once. Those that run hold a worker each. */
function demandOf(jobs: number, workers: number, nowMs: number): Demand {
  const running = Math.min(jobs, workers);
  const queued = jobs - running;
  const waitMs = running === 0 ? nowMs - START_MS : (queued / running) * EXECUTION_MS;
  const endedLastMinute = (running * 60_000) / EXECUTION_MS;
  return {
    ...{ ...NO_DEMAND, queuedNormal: queued, running, endedLastMinute },
    oldestQueuedAtMs: queued === 0 ? null : nowMs - waitMs,
    executionMsLastMinute: endedLastMinute * EXECUTION_MS,
  };
}

/** As its host reports it a second later: started by then, or gone, where it was told to go. */
function observed({ endpointId, id, intent, release }: Worker, isBusy: boolean, idleSinceMs: number): ObservedWorker {
  const seen = { reason: '', failedStarts: 0, phaseSinceMs: 0, startedAtMs: 0, gpuTypeId: null };
  const phase = intent === 'drained' ? ('removed' as const) : isBusy ? ('busy' as const) : ('idle' as const);
  return { workerId: id, endpointId, release, phase, runningJobs: Number(isBusy), ...seen, idleSinceMs };
}

/** What was done in each pass, and how many workers were wanted. */
function walk(spec: EndpointSpec, jobs: number) {
  let memory = newFleetMemory(START_MS);
  let workers: readonly Worker[] = [];
  let made = 0;
  return Array.from({ length: PASSES }, (_, second) => {
    const nowMs = START_MS + second * 1_000;
    const taking = workers.filter(({ observed: seen }) => seen?.phase === 'idle' || seen?.phase === 'busy').length;
    workers = workers.map((worker, at) => ({ ...worker, observed: observed(worker, at < jobs, START_MS) }));
    const endpoint = {
      ...{ id: ENDPOINT_ID, accountId: 'a' as AccountId, spec, release: 1, version: 1, createdAtMs: 0 },
      ...{ deletedAtMs: null, lastDecision: null, volumeDataCenterIds: [] },
    };
    const fleet = { endpoints: [endpoint], hosts: new Map([[host.id, host]]), workers, accountLimits: new Map() };
    const newWorkerId = (): WorkerId => `w${(made += 1)}` as WorkerId;
    const plan = planFleet(
      { fleet, catalog: SHIPPED_CATALOG, demandOf: () => demandOf(jobs, taking, nowMs), memory },
      { nowMs, newWorkerId },
    );
    memory = plan.memory;
    const [own] = plan.endpoints;
    const operations: readonly FleetOperation[] = own?.kind === 'staff' ? own.operations : [];
    workers = operations.reduce(withOperation, workers);
    return { operations, desired: own?.kind === 'staff' ? own.decision.desiredWorkers : 0 };
  });
}

const scaling: fc.Arbitrary<Scaling> = fc.oneof(
  fc.record({ type: fc.constant('QUEUE_DELAY' as const), queueDelaySeconds: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ type: fc.constant('REQUEST_COUNT' as const), requestCount: fc.integer({ min: 1, max: 5 }) }),
);

const range = fc.record({ min: fc.nat(3), more: fc.nat(12) });

test('under a load that stays the same no worker comes once one has gone, in the end nothing changes, and the range holds', () => {
  fc.assert(
    fc.property(scaling, range, fc.nat(20), (policy, { min, more }, jobs) => {
      const max = min + more;
      const passes = walk(specOf(policy, min, max), jobs);
      for (const { desired } of passes) {
        expect(desired).toBeGreaterThanOrEqual(min);
        expect(desired).toBeLessThanOrEqual(max);
      }
      const kinds = passes.flatMap(({ operations }) => operations.map(({ kind }) => kind));
      const gone = kinds.indexOf('drain-worker');
      // One that was added because a job had waited too long may turn out to be one too many, once.
      if (gone >= 0) expect(kinds.slice(gone)).not.toContain('create-worker');
      expect(passes.slice(SETTLED_AFTER).flatMap(({ operations }) => operations)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
