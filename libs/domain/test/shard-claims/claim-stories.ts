import fc from 'fast-check';
import type { Fault, WorldOptions } from './surroundings.js';

/** Faults come until then. */
export const FAULTS_UNTIL_MS = 40_000;
/** The longest that one lasts. */
export const FAULT_MAX_MS = 20_000;

const atMs = fc.integer({ min: 0, max: FAULTS_UNTIL_MS });
const router = fc.nat(5);
const lengthMs = (min: number, max: number) => fc.integer({ min, max });

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: fc.constant('leader-change' as const), atMs, lengthMs: lengthMs(4_000, 7_000) }),
  fc.record({ kind: fc.constant('freeze' as const), atMs, router, lengthMs: lengthMs(300, FAULT_MAX_MS) }),
  fc.record({ kind: fc.constant('death' as const), atMs, router, isProven: fc.boolean() }),
  fc.record({ kind: fc.constant('stop' as const), atMs, router }),
  fc.record({ kind: fc.constant('start' as const), atMs }),
  fc.record({ kind: fc.constant('disconnect' as const), atMs, router }),
  fc.record({ kind: fc.constant('rough' as const), atMs, lengthMs: lengthMs(1_000, 15_000) }),
);

const world = (routersMin: number) => ({
  seed: fc.nat(),
  routers: fc.integer({ min: routersMin, max: 4 }),
  shards: fc.integer({ min: 1, max: 8 }),
});

/** Anything may happen; in the end one more router starts, so that somebody lives. */
export const stories = (): fc.Arbitrary<WorldOptions> =>
  fc.record({ ...world(1), faults: fc.array(fault, { maxLength: 10 }) }).map((story) => ({
    ...story,
    faults: [...story.faults, { kind: 'start', atMs: FAULTS_UNTIL_MS }],
  }));

/** The same while some routers, and some logs, are of the version before. */
export const mixedStories = (): fc.Arbitrary<WorldOptions> => {
  const formats = fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 4 });
  return fc.tuple(stories(), formats, formats).map(([story, reads, of]) => ({ ...story, reads, formats: of }));
};

/** Routers that have long shared everything out, and then nothing but changes of the leader. */
export const SETTLED_AFTER_MS = 20_000;
export const leaderChanges = (): fc.Arbitrary<WorldOptions> =>
  fc.record({
    ...world(2),
    faults: fc.array(
      fc.record({
        kind: fc.constant('leader-change' as const),
        atMs: fc.integer({ min: SETTLED_AFTER_MS, max: 60_000 }),
        lengthMs: lengthMs(4_000, 7_000),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  });
