import fc from 'fast-check';
import { DemandWorld, ENDPOINTS, MESSAGE_MAX_AGE_MS, type DemandStep } from './demand-world.js';

export interface DemandStory {
  readonly steps: readonly DemandStep[];
}

const endpoint = fc.nat(ENDPOINTS - 1);
const owner = fc.nat(5);

const step: fc.Arbitrary<DemandStep> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('submit' as const), endpoint }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), endpoint }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('break' as const, 'mend' as const), endpoint }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'claim' as const }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'read-index' as const }) },
  { weight: 5, arbitrary: fc.constant({ kind: 'say-changes' as const }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('say-all' as const), partSize: fc.integer({ min: 1, max: ENDPOINTS }) }),
  },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('deliver' as const), owner }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const), owner }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.integer({ min: 0, max: MESSAGE_MAX_AGE_MS }),
    }),
  },
);

export const stories = (): fc.Arbitrary<DemandStory> =>
  fc.record({ steps: fc.array(step, { minLength: 5, maxLength: 80, size: 'max' }) });

/** @throws Error at the first step after which something is said that nobody said last */
export function checkTold({ steps }: DemandStory): void {
  const world = new DemandWorld();
  for (const [at, next] of steps.entries()) {
    world.take(next);
    world.check(`after step ${at}, ${next.kind}`);
  }
  world.calm();
}
