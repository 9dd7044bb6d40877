import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Scaling, WorkerRange } from '../endpoint/index.js';
import { totalWorkers, type WorkerCounts } from './count-workers.js';
import { decideScale, type ScaleDecision, type ScaleMemory } from './decide-scale.js';
import type { Demand } from './demand.js';

const T0 = 10_000_000;

const scaling: fc.Arbitrary<Scaling> = fc.oneof(
  fc.record({
    type: fc.constant('QUEUE_DELAY' as const),
    queueDelaySeconds: fc.double({ min: 0.5, max: 60, noNaN: true }),
  }),
  fc.record({ type: fc.constant('REQUEST_COUNT' as const), requestCount: fc.integer({ min: 1, max: 20 }) }),
);

const range: fc.Arbitrary<WorkerRange> = fc
  .record({
    min: fc.nat(5),
    more: fc.nat(20),
    idleTimeoutSeconds: fc.option(fc.integer({ min: 1, max: 60 })),
  })
  .map(({ min, more, idleTimeoutSeconds }) => ({ min, max: min + more, idleTimeoutSeconds }));

const workers: fc.Arbitrary<WorkerCounts> = fc.record({
  starting: fc.nat(5),
  idle: fc.nat(5),
  busy: fc.nat(5),
  unhealthy: fc.nat(2),
});

const demand: fc.Arbitrary<Demand> = fc
  .record({
    queuedNormal: fc.nat(50),
    queuedLow: fc.nat(50),
    runningNormal: fc.nat(50),
    runningLow: fc.nat(50),
    waitedMs: fc.nat(120_000),
    endedLastMinute: fc.nat(100),
    meanMs: fc.nat(120_000),
  })
  .map(({ runningNormal, waitedMs, meanMs, ...counts }) => ({
    queuedNormal: counts.queuedNormal,
    queuedLow: counts.queuedLow,
    running: runningNormal + counts.runningLow,
    runningLow: counts.runningLow,
    oldestQueuedAtMs: counts.queuedNormal === 0 ? null : T0 - waitedMs,
    endedLastMinute: counts.endedLastMinute,
    executionMsLastMinute: counts.endedLastMinute * meanMs,
  }));

/** Memories as a loop really has them: what a few decisions of the same endpoint left. */
const step = fc.record({ afterMs: fc.nat(30_000), demand: fc.option(demand, { freq: 4 }), workers });
const endpoint = fc.record({ scaling, range });

interface Walk {
  readonly endpoint: { readonly scaling: Scaling; readonly range: WorkerRange };
  readonly steps: readonly {
    readonly afterMs: number;
    readonly demand: Demand | null;
    readonly workers: WorkerCounts;
  }[];
}

function walk({ endpoint: fixed, steps }: Walk) {
  let nowMs = T0;
  let memory: ScaleMemory | null = null;
  return steps.map(({ afterMs, ...seen }) => {
    nowMs += afterMs;
    const decision = decideScale({ ...fixed, ...seen, memory }, nowMs);
    memory = decision.memory;
    return { nowMs, seen, decision };
  });
}

const walks: fc.Arbitrary<Walk> = fc.record({ endpoint, steps: fc.array(step, { minLength: 1, maxLength: 12 }) });

test('min ≤ desired ≤ max, whatever was seen', () => {
  fc.assert(
    fc.property(walks, (given) => {
      for (const { decision } of walk(given)) {
        expect(decision.desiredWorkers).toBeGreaterThanOrEqual(given.endpoint.range.min);
        expect(decision.desiredWorkers).toBeLessThanOrEqual(given.endpoint.range.max);
      }
    }),
  );
});

test('more demand never wants fewer workers', () => {
  const more = fc.record({ queued: fc.nat(20), running: fc.nat(20), low: fc.nat(20), waitedMs: fc.nat(60_000) });
  fc.assert(
    fc.property(walks, demand, workers, more, (...[given, less, there, extra]) => {
      const past = walk(given).at(-1);
      if (past === undefined) return;
      const queuedNormal = less.queuedNormal + extra.queued;
      const oldest = (less.oldestQueuedAtMs ?? past.nowMs) - extra.waitedMs;
      const greater: Demand = {
        ...less,
        queuedNormal,
        queuedLow: less.queuedLow + extra.low,
        running: less.running + extra.running,
        oldestQueuedAtMs: queuedNormal === 0 ? null : oldest,
      };
      const view = { ...given.endpoint, workers: there, memory: past.decision.memory };
      const few = decideScale({ ...view, demand: less }, past.nowMs).desiredWorkers;
      expect(decideScale({ ...view, demand: greater }, past.nowMs).desiredWorkers).toBeGreaterThanOrEqual(few);
    }),
  );
});

test('unknown demand changes nothing but what the range demands', () => {
  fc.assert(
    fc.property(walks, fc.nat(600_000), (given, silentMs) => {
      const past = walk(given).at(-1);
      if (past === undefined) return;
      const view = { ...given.endpoint, workers: past.seen.workers, demand: null, memory: past.decision.memory };
      const held = decideScale(view, past.nowMs + silentMs);
      expect(held.reason).toBe('demand-unknown');
      expect(held.desiredWorkers).toBeGreaterThanOrEqual(past.decision.desiredWorkers);
    }),
  );
});

/** What the demand itself took at least: not what grace or the minimum added to it. */
const wantedByDemand = ({ desiredWorkers, reason }: ScaleDecision): number =>
  reason === 'idle-grace' || reason === 'at-min' ? 0 : desiredWorkers;

test('no worker that is there goes within the window after it was wanted, or after the loop started', () => {
  fc.assert(
    fc.property(walks, (given) => {
      const { idleTimeoutSeconds, max } = given.endpoint.range;
      const windowMs = idleTimeoutSeconds === null ? 10_000 : idleTimeoutSeconds * 1000;
      const past = walk(given);
      const started = past[0];
      past.forEach(({ nowMs, seen, decision }, index) => {
        const there = totalWorkers(seen.workers);
        const recent = past.slice(0, index).filter((earlier, at) => {
          // What was wanted held until the next look.
          const heldUntilMs = past[at + 1]?.nowMs ?? earlier.nowMs;
          return earlier.seen.demand !== null && nowMs - heldUntilMs < windowMs;
        });
        const wanted = Math.max(0, ...recent.map((earlier) => wantedByDemand(earlier.decision)));
        expect(decision.desiredWorkers).toBeGreaterThanOrEqual(Math.min(there, wanted));
        if (started !== undefined && nowMs - started.nowMs < windowMs) {
          const atStart = Math.min(max, totalWorkers(started.seen.workers));
          expect(decision.desiredWorkers).toBeGreaterThanOrEqual(Math.min(there, atStart));
        }
      });
    }),
  );
});

test('low-priority jobs alone never want a worker more than there is', () => {
  fc.assert(
    fc.property(endpoint, workers, fc.nat(50), fc.nat(50), (...[fixed, there, queuedLow, runningLow]) => {
      const low = { queuedNormal: 0, queuedLow, running: runningLow, runningLow, oldestQueuedAtMs: null };
      const seen = { ...low, endedLastMinute: 5, executionMsLastMinute: 60_000 };
      const decision = decideScale({ ...fixed, workers: there, demand: seen, memory: null }, T0);
      expect(decision.desiredWorkers).toBeLessThanOrEqual(Math.max(fixed.range.min, totalWorkers(there)));
    }),
  );
});

test('between a decision and its recheck, time alone changes nothing', () => {
  fc.assert(
    fc.property(walks, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (given, fraction) => {
      const last = walk(given).at(-1);
      if (last === undefined) return;
      const untilMs = last.decision.recheckAtMs ?? last.nowMs + 3_600_000;
      const betweenMs = last.nowMs + Math.max(0, Math.ceil((untilMs - last.nowMs) * fraction) - 1);
      const again = decideScale({ ...given.endpoint, ...last.seen, memory: last.decision.memory }, betweenMs);
      expect(again.desiredWorkers).toBe(last.decision.desiredWorkers);
    }),
  );
});

test('what is remembered stays small', () => {
  fc.assert(
    fc.property(walks, (given) => {
      for (const { decision } of walk(given)) {
        expect(decision.memory.levels.length).toBeLessThanOrEqual(given.endpoint.range.max + 1);
      }
    }),
  );
});
