import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { WorkerPhase } from '../worker/worker.js';
import { runChange, useOf, type HostUse } from './run-change.js';

const T0 = 1_000_000_000;

/** One stretch of a worker's life: its phase, and whether another container than before is in it. */
interface Stretch {
  readonly phase: WorkerPhase;
  readonly isNewContainer: boolean;
  readonly lastsMs: number;
}

interface Run {
  readonly use: HostUse;
  readonly fromMs: number;
  toMs: number | null;
}

const WITH_CONTAINER: readonly WorkerPhase[] = ['starting', 'idle', 'busy', 'paused', 'draining', 'unhealthy'];
const stretches: fc.Arbitrary<readonly Stretch[]> = fc.array(
  fc.record({
    phase: fc.constantFrom<WorkerPhase>('preparing', 'waiting', ...WITH_CONTAINER),
    isNewContainer: fc.boolean(),
    lastsMs: fc.integer({ min: 1, max: 20_000 }),
  }),
  { minLength: 1, maxLength: 12 },
);

/** What a host says at each instant, by a clock of its own. */
function hostOf(story: readonly Stretch[], skewMs: number) {
  let atMs = T0;
  let startedAtMs: number | null = null;
  const points = story.map(({ isNewContainer, lastsMs, phase }) => {
    const hasContainer = WITH_CONTAINER.includes(phase);
    if (!hasContainer) startedAtMs = null;
    else if (startedAtMs === null || isNewContainer) startedAtMs = atMs + skewMs;
    const point = { fromMs: atMs, seen: { phase, phaseSinceMs: atMs + skewMs, startedAtMs } };
    atMs += lastsMs;
    return point;
  });
  return { points, endMs: atMs, at: (ms: number) => points.findLast(({ fromMs }) => fromMs <= ms)?.seen ?? null };
}

type Host = ReturnType<typeof hostOf>;

/** The runs that reports made at these instants leave behind. */
function runsOf(host: Host, reportsAtMs: readonly number[], skewMs: number): readonly Run[] {
  const runs: Run[] = [];
  let before: ReturnType<Host['at']> = null;
  let previousAtMs: number | null = null;
  for (const receivedAtMs of reportsAtMs) {
    const after = host.at(receivedAtMs);
    if (after === null) continue;
    const times = { receivedAtMs, sentAtMs: receivedAtMs + skewMs, previousAtMs, placedAtMs: T0 };
    const change = runChange(before, after, times);
    const open = runs.at(-1);
    if (change?.endedAtMs != null && open?.toMs === null) open.toMs = change.endedAtMs;
    if (change?.begun != null) runs.push({ use: change.begun.use, fromMs: change.begun.sinceMs, toMs: null });
    [before, previousAtMs] = [after, receivedAtMs];
  }
  return runs;
}

const skews = fc.integer({ min: -3_600_000, max: 3_600_000 });

describe('the time that is counted for a worker', () => {
  test('is never counted twice, and never outside of what was reported, however seldom that is', () => {
    fc.assert(
      fc.property(stretches, fc.array(fc.nat(240_000), { maxLength: 30 }), skews, (story, at, skewMs) => {
        const reports = [...new Set(at)].toSorted((a, b) => a - b).map((ms) => T0 + ms);
        const runs = runsOf(hostOf(story, skewMs), reports, skewMs);
        let lastMs = T0;
        for (const [index, { fromMs, toMs }] of runs.entries()) {
          expect(fromMs).toBeGreaterThanOrEqual(lastMs);
          // Only the last one is still open.
          if (index < runs.length - 1) expect(toMs).not.toBeNull();
          lastMs = toMs ?? fromMs;
          expect(lastMs).toBeGreaterThanOrEqual(fromMs);
          expect(lastMs).toBeLessThanOrEqual(reports.at(-1) ?? T0);
        }
      }),
    );
  });

  test('is what there was, to the millisecond, where each change is reported as it happens', () => {
    fc.assert(
      fc.property(stretches, skews, (story, skewMs) => {
        // Of a container that is replaced between two reports nothing is known after the first of them.
        const host = hostOf(
          story.map((each) => ({ ...each, isNewContainer: false })),
          skewMs,
        );
        const runs = runsOf(host, [...host.points.map(({ fromMs }) => fromMs), host.endMs], skewMs);
        const counted = { running: 0, paused: 0 };
        for (const { fromMs, toMs, use } of runs) counted[use] += (toMs ?? host.endMs) - fromMs;
        const really = { running: 0, paused: 0 };
        for (const [index, { fromMs, seen }] of host.points.entries()) {
          const use = useOf(seen);
          if (use !== null) really[use] += (host.points[index + 1]?.fromMs ?? host.endMs) - fromMs;
        }
        expect(counted).toEqual(really);
      }),
    );
  });

  test('a report that says the same again changes nothing', () => {
    fc.assert(
      fc.property(stretches, skews, (story, skewMs) => {
        for (const { seen } of hostOf(story, skewMs).points) {
          const times = { receivedAtMs: T0, sentAtMs: T0 + skewMs, previousAtMs: T0, placedAtMs: T0 };
          expect(runChange(seen, seen, times)).toBeNull();
        }
      }),
    );
  });
});

test('a container that took the place of another: nothing is known of the first after the report before', () => {
  const seen = (startedAtMs: number) => ({ phase: 'busy' as const, phaseSinceMs: startedAtMs, startedAtMs });
  const times = { receivedAtMs: T0 + 60_000, sentAtMs: 60_000, previousAtMs: T0 + 10_000, placedAtMs: T0 };
  expect(runChange(seen(0), seen(55_000), times)).toEqual({
    endedAtMs: T0 + 10_000,
    begun: { use: 'running', sinceMs: T0 + 55_000 },
  });
});

test('a host without a clock is believed from when its report came', () => {
  const seen = { phase: 'idle' as const, phaseSinceMs: 5, startedAtMs: 5 };
  expect(runChange(null, seen, { receivedAtMs: T0 + 9, previousAtMs: null, placedAtMs: T0 })).toEqual({
    endedAtMs: null,
    begun: { use: 'running', sinceMs: T0 + 9 },
  });
});
