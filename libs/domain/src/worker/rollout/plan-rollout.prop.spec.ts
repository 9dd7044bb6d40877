import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FleetWalk } from '../../../test/worker/fleet-walk.js';
import type { EndpointOperation } from '../plan-endpoint.js';
import { isUp } from '../worker-status.js';
import { isCrashLooping } from './release-starts.js';

/** What happens between two looks. */
type Happening =
  | { readonly kind: 'look' | 'good-release' | 'broken-release' | 'mended' | 'broken' }
  | { readonly kind: 'step' | 'work' | 'drain-host' | 'restart' | 'scale'; readonly index: number };

const index = fc.nat(7);

const step = fc.record({ kind: fc.constant('step' as const), index });
const work = fc.record({ kind: fc.constant('work' as const), index });
const look = fc.record({ kind: fc.constant('look' as const) });
const release = fc.record({
  kind: fc.constantFrom('good-release' as const, 'broken-release' as const, 'mended' as const, 'broken' as const),
});
const rare = fc.record({
  kind: fc.constantFrom('drain-host' as const, 'restart' as const, 'scale' as const),
  index,
});

const happenings = (...more: readonly fc.Arbitrary<Happening>[]): fc.Arbitrary<readonly Happening[]> =>
  fc.array(
    fc.oneof(
      ...[{ weight: 6, arbitrary: step }, { weight: 4, arbitrary: look }, { weight: 2, arbitrary: work }, release],
      ...more,
    ),
    { maxLength: 80 },
  );

function happen(walk: FleetWalk, happening: Happening): readonly EndpointOperation[] {
  switch (happening.kind) {
    case 'look':
      return walk.look();
    case 'good-release':
    case 'broken-release':
      walk.newRelease(happening.kind === 'broken-release');
      return [];
    case 'mended':
    case 'broken':
      walk.mend(happening.kind === 'broken');
      return [];
    case 'step':
      walk.step(happening.index);
      return [];
    case 'work':
      walk.work(happening.index);
      return [];
    case 'drain-host':
      walk.drainHostOf(happening.index);
      return [];
    case 'restart':
      walk.restart(happening.index);
      return [];
    case 'scale':
      walk.desired = Math.min(happening.index, walk.workersMax);
      return [];
    default:
      return happening satisfies never;
  }
}

/** An endpoint whose workers are all up. */
const walks = fc
  .record({ desired: fc.integer({ min: 1, max: 6 }), more: fc.nat(2) })
  .map(({ desired, more }) => ({ desired, max: desired + more }));

function settled({ desired, max }: { readonly desired: number; readonly max: number }): FleetWalk {
  const walk = new FleetWalk(desired, max);
  walk.settle(5);
  return walk;
}

const serving = (walk: FleetWalk): number =>
  walk.workers.filter(({ worker }) => worker.intent === 'running' && isUp(worker)).length;

const RARE = { weight: 1, arbitrary: rare } as never;

test('never more workers than the maximum, one operation for each, and nothing left to do once they are carried out', () => {
  fc.assert(
    fc.property(walks, happenings(RARE), (size, events) => {
      const walk = settled(size);
      for (const event of events) {
        const ids = happen(walk, event).flatMap((each) => (each.kind === 'create-worker' ? [] : [each.workerId]));
        expect(new Set(ids).size).toBe(ids.length);
        expect(walk.workers.length).toBeLessThanOrEqual(size.max);
        if (event.kind === 'look') expect(walk.plan()).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});

test('a release that is crash-looping drains no worker that is up, and has one of its own at most', () => {
  fc.assert(
    fc.property(walks, happenings(), (size, events) => {
      const walk = settled(size);
      for (const event of events) {
        const before = new Map(walk.workers.map(({ worker }) => [worker.id, worker]));
        const operations = happen(walk, event);
        if (event.kind !== 'look' || walk.starts === null || !isCrashLooping(walk.starts)) continue;
        for (const operation of operations) {
          if (operation.kind !== 'drain-worker') continue;
          const worker = before.get(operation.workerId);
          expect(worker !== undefined && isUp(worker)).toBe(false);
        }
        const own = walk.workers.filter(({ worker }) => worker.release === walk.release && worker.intent === 'running');
        expect(own.length).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: 300 },
  );
});

test('while what is wanted stays the same, no more workers are missing than the window is wide', () => {
  fc.assert(
    fc.property(walks, happenings(), (size, events) => {
      const walk = settled(size);
      const window = Math.max(1, Math.ceil(size.desired / 4));
      for (const event of events) {
        happen(walk, event);
        expect(serving(walk)).toBeGreaterThanOrEqual(size.desired - window);
      }
    }),
    { numRuns: 300 },
  );
});

test('a good release arrives everywhere in the end, whatever happened before', () => {
  fc.assert(
    fc.property(walks, happenings(RARE), (size, events) => {
      const walk = settled(size);
      for (const event of events) happen(walk, event);
      walk.desired = size.desired;
      walk.newRelease();
      walk.settle();
      expect(walk.toString()).toBe(Array.from({ length: size.desired }, () => `${walk.release} idle`).join(', '));
    }),
    { numRuns: 300 },
  );
});
