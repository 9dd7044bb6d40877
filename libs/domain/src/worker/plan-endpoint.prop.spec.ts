import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EndpointId, HostId, WorkerId } from '../ids.js';
import { goneReason, type HostedWorker } from './hosted-worker.js';
import { planEndpoint, type EndpointOperation, type EndpointView } from './plan-endpoint.js';
import type { Worker } from './worker.js';
import { WORKER_PHASES } from './worker-phase.js';

const NOW = 1_000_000;
const IDLE_TIMEOUT_MS = 10_000;
const endpointId = 'e' as EndpointId;
const resources = { vcpus: 1, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 };

const hosted: fc.Arbitrary<HostedWorker> = fc
  .record({
    id: fc.uuid().map((id) => id as WorkerId),
    release: fc.integer({ min: 1, max: 3 }),
    intent: fc.constantFrom('running' as const, 'running' as const, 'drained' as const),
    createdAtMs: fc.nat(5),
    phase: fc.option(fc.constantFrom(...WORKER_PHASES)),
    idleForMs: fc.option(fc.nat(20_000)),
    isConditional: fc.boolean(),
    host: fc.option(
      fc.record({
        intent: fc.constantFrom('ready' as const, 'ready' as const, 'cordoned' as const, 'draining' as const),
        lastSeenAtMs: fc.option(fc.integer({ min: NOW - 40_000, max: NOW }), { freq: 9 }),
      }),
      { freq: 9 },
    ),
  })
  .map(({ phase, host, idleForMs, isConditional, ...fields }) => ({
    host,
    worker: {
      ...fields,
      endpointId,
      hostId: 'h' as HostId,
      resources,
      ...(isConditional && fields.intent === 'drained' ? { leavesAfterIdleMs: IDLE_TIMEOUT_MS } : {}),
      observed:
        phase === null
          ? null
          : {
              workerId: fields.id,
              endpointId,
              release: fields.release,
              phase,
              reason: '',
              runningJobs: 0,
              failedStarts: 0,
              phaseSinceMs: 0,
              startedAtMs: null,
              gpuTypeId: null,
              ...(idleForMs === null ? {} : { idleSinceMs: NOW - idleForMs }),
            },
    },
  }));

const view: fc.Arbitrary<EndpointView> = fc.record({
  isDeleted: fc.boolean(),
  release: fc.integer({ min: 1, max: 3 }),
  desiredWorkers: fc.nat(8),
  workersMax: fc.nat(8),
  workers: fc.uniqueArray(hosted, { selector: ({ worker }) => worker.id, maxLength: 10 }),
  observingSinceMs: fc.integer({ min: NOW - 60_000, max: NOW }),
  idleTimeoutMs: fc.constant(IDLE_TIMEOUT_MS),
});

function drained(
  { leavesAfterIdleMs: _, ...worker }: Worker,
  { leavesAfterIdleMs }: { readonly leavesAfterIdleMs?: number },
): Worker {
  return { ...worker, intent: 'drained', ...(leavesAfterIdleMs === undefined ? {} : { leavesAfterIdleMs }) };
}

/** The view after every operation has had its effect, with each wanted worker placed on a good host. */
function applied(before: EndpointView, operations: readonly EndpointOperation[]): EndpointView {
  let workers = [...before.workers];
  operations.forEach((operation, index) => {
    switch (operation.kind) {
      case 'create-worker':
        workers.push({
          host: { intent: 'ready', lastSeenAtMs: NOW },
          worker: {
            id: `new-${index}` as WorkerId,
            endpointId,
            hostId: 'h' as HostId,
            release: operation.release,
            intent: 'running',
            createdAtMs: NOW,
            resources,
            observed: null,
          },
        });
        break;
      case 'drain-worker':
        workers = workers.map((each) =>
          each.worker.id === operation.workerId ? { ...each, worker: drained(each.worker, operation) } : each,
        );
        break;
      case 'resume-worker':
        workers = workers.map((each) =>
          each.worker.id === operation.workerId ? { ...each, worker: { ...each.worker, intent: 'running' } } : each,
        );
        break;
      case 'forget-worker':
        workers = workers.filter(({ worker }) => worker.id !== operation.workerId);
        break;
    }
  });
  return { ...before, workers };
}

const present = ({ workers, observingSinceMs }: EndpointView): readonly HostedWorker[] =>
  workers.filter((each) => goneReason(each, observingSinceMs, NOW) === null);

test('at most one operation per worker', () => {
  fc.assert(
    fc.property(view, (given) => {
      const ids = planEndpoint(given, NOW).flatMap((operation) =>
        operation.kind === 'create-worker' ? [] : [operation.workerId],
      );
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

test('planning again after the plan was applied has nothing to do', () => {
  fc.assert(
    fc.property(view, (given) => {
      expect(planEndpoint(applied(given, planEndpoint(given, NOW)), NOW)).toEqual([]);
    }),
  );
});

test('the plan adds no worker above the maximum, draining ones counted', () => {
  fc.assert(
    fc.property(view, (given) => {
      const after = applied(given, planEndpoint(given, NOW));
      expect(present(after).length).toBeLessThanOrEqual(Math.max(given.workersMax, present(given).length));
    }),
  );
});

test('no worker with a job leaves to save a worker, and a deleted endpoint gets none', () => {
  fc.assert(
    fc.property(view, (given) => {
      const phaseOf = new Map(given.workers.map(({ worker }) => [worker.id, worker.observed?.phase]));
      for (const operation of planEndpoint(given, NOW)) {
        if (given.isDeleted) expect(operation.kind).not.toBe('create-worker');
        if (operation.kind !== 'drain-worker' || operation.reason !== 'scale-down') continue;
        expect(phaseOf.get(operation.workerId)).not.toBe('busy');
      }
    }),
  );
});

test('the order in which workers are listed does not matter', () => {
  const shuffled = view.chain((given) =>
    fc.tuple(fc.constant(given), fc.shuffledSubarray([...given.workers], { minLength: given.workers.length })),
  );
  const sorted = (operations: readonly EndpointOperation[]): readonly string[] =>
    operations.map((operation) => JSON.stringify(operation)).toSorted();
  fc.assert(
    fc.property(shuffled, ([given, workers]) => {
      expect(sorted(planEndpoint({ ...given, workers }, NOW))).toEqual(sorted(planEndpoint(given, NOW)));
    }),
  );
});

test('nobody is drained to save a worker sooner than the idle time after its last job, unless there are too many', () => {
  fc.assert(
    fc.property(view, (given) => {
      const known = new Map(given.workers.map(({ worker }) => [worker.id, worker]));
      for (const operation of planEndpoint(given, NOW)) {
        if (operation.kind !== 'drain-worker' || operation.reason !== 'scale-down') continue;
        if (operation.leavesAfterIdleMs === undefined) {
          expect(given.workers.length).toBeGreaterThan(given.workersMax);
          continue;
        }
        const idleSinceMs = known.get(operation.workerId)?.observed?.idleSinceMs ?? 0;
        expect(NOW - idleSinceMs).toBeGreaterThanOrEqual(IDLE_TIMEOUT_MS);
      }
    }),
  );
});
