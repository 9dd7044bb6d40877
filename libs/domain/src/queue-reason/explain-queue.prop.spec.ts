import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { WorkerId } from '../ids.js';
import type { ComingReason, ComingStage, ComingWorker, EndpointOutlook } from './endpoint-outlook.js';
import { QUEUE_DETAIL_MAX, explainQueue } from './explain-queue.js';
import { QUEUE_REASONS } from './queue-reason.js';
import type { QueueView } from './queue-view.js';

const NOW = 1_000_000_000;
const instant = fc.integer({ min: NOW - 60_000, max: NOW + 60_000 });
const few = fc.nat(4);

const coming: fc.Arbitrary<ComingWorker> = fc.record({
  id: fc.constant('w' as WorkerId),
  stage: fc.constantFrom<ComingStage>('initialising', 'starting', 'preparing', 'placed', 'delayed', 'unhealthy'),
  reason: fc.constantFrom<ComingReason>('worker-starting', 'throttled', 'image-error'),
  detail: fc.string({ maxLength: 400 }),
  nextStartAtMs: fc.option(instant),
  sinceMs: instant,
  toldAtMs: instant,
});

const outlook: fc.Arbitrary<EndpointOutlook> = fc.record(
  {
    desired: few,
    scaling: fc.record({ reason: fc.constantFrom('demand', 'at-max', 'demand-unknown', 'later'), sinceMs: instant }),
    coming: fc.array(coming, { maxLength: 6 }),
    unplaced: fc.option(
      fc.record({
        count: few,
        reason: fc.constantFrom('no-hosts', 'account-quota', 'vcpu', 'later'),
        detail: fc.string(),
        sinceMs: instant,
        hosts: fc.array(fc.record({ id: fc.string(), reason: fc.string(), detail: fc.string() }), { maxLength: 9 }),
      }),
    ),
    crashLoop: fc.record({ detail: fc.string({ minLength: 1, maxLength: 400 }), sinceMs: instant }),
  },
  { requiredKeys: ['desired', 'scaling', 'coming', 'unplaced'] },
);

const view: fc.Arbitrary<QueueView> = fc.record({
  job: fc.record({
    attempt: fc.integer({ min: 1 }),
    isLowPriority: fc.boolean(),
    notBeforeMs: instant,
    queuedAtMs: instant,
  }),
  position: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
  workersMax: few,
  workers: fc.record({ idle: few, busy: few, coming: few, leaving: few }),
  outlook: fc.option(outlook),
  running: few,
  endedLastMinute: few,
  executionMsLastMinute: fc.nat(600_000),
  controlHeardAtMs: instant,
});

test('whatever is seen, there is exactly one reason, one sentence and one instant', () => {
  fc.assert(
    fc.property(view, (given) => {
      const { detail, estimatedStartMs, position, reason, sinceMs } = explainQueue(given, NOW);
      expect(QUEUE_REASONS).toContain(reason);
      expect(detail.length).toBeGreaterThan(0);
      expect(detail.length).toBeLessThanOrEqual(QUEUE_DETAIL_MAX);
      expect(position).toBe(given.position);
      expect(sinceMs).toBeLessThanOrEqual(NOW);
      expect(sinceMs).toBeGreaterThanOrEqual(Math.min(NOW, given.job.queuedAtMs));
      expect(estimatedStartMs === null || (Number.isSafeInteger(estimatedStartMs) && estimatedStartMs >= 0)).toBe(true);
    }),
  );
});
