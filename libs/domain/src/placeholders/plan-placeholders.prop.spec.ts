import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AccountId, EndpointId } from '../ids.js';
import { planPlaceholders, wantsText, type Placeholder, type PlaceholderWish } from './plan-placeholders.js';
import type { NodeWants, Shortage } from './shortages.js';

const CPU: NodeWants = { vcpus: 2, memoryBytes: 4, diskBytes: 10, gpuCount: 0, gpuTypeIds: [] };
const GPU: NodeWants = { vcpus: 1, memoryBytes: 1, diskBytes: 10, gpuCount: 1, gpuTypeIds: ['NVIDIA L4'] };

const shortage = fc.record({
  endpoint: fc.integer({ min: 0, max: 7 }),
  count: fc.integer({ min: 1, max: 9 }),
  sinceMs: fc.integer({ min: 0, max: 5 }),
  wants: fc.constantFrom(CPU, GPU),
});
/** Each endpoint once, two of them to an account. */
const shortages = fc.uniqueArray(shortage, { selector: ({ endpoint }) => endpoint }).map((list): readonly Shortage[] =>
  list.map(({ endpoint, ...rest }) => ({
    ...rest,
    endpointId: `e${String(endpoint)}` as EndpointId,
    accountId: `a${String(Math.floor(endpoint / 2))}` as AccountId,
  })),
);
const existing = fc.uniqueArray(
  fc.record({
    name: fc
      .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }))
      .map(([endpoint, ordinal]) => `placeholder-e${String(endpoint)}-${String(ordinal)}`),
    wants: fc.constantFrom(wantsText(CPU), wantsText(GPU), 'of another version'),
    isOver: fc.boolean(),
  }),
  { selector: ({ name }) => name },
);
const bounds = fc.record({ max: fc.integer({ min: 1, max: 12 }), accountMax: fc.integer({ min: 1, max: 5 }) });

function carriedOut(there: readonly Placeholder[], plan: ReturnType<typeof planPlaceholders>): readonly Placeholder[] {
  const left = there.filter(({ name }) => !plan.remove.includes(name));
  return [...left, ...plan.create.map((wish) => ({ ...wish, isOver: false }))];
}

const accountOf = ({ name }: Pick<Placeholder, 'name'>): string =>
  `a${String(Math.floor(Number(/placeholder-e(\d+)-/.exec(name)?.[1]) / 2))}`;

test('after two passes there is what is wanted, within the bounds, and nothing is left to do', () => {
  fc.assert(
    fc.property(shortages, existing, bounds, (wanted, there, limits) => {
      const once = carriedOut(there, planPlaceholders(wanted, there, limits));
      const twice = carriedOut(once, planPlaceholders(wanted, once, limits));
      expect(planPlaceholders(wanted, twice, limits)).toEqual({ remove: [], create: [] });
      expect(twice.some(({ isOver }) => isOver)).toBe(false);
      expect(twice.length).toBeLessThanOrEqual(limits.max);
      for (const each of Map.groupBy(twice, accountOf).values())
        expect(each.length).toBeLessThanOrEqual(limits.accountMax);
      expect(new Set(twice.map(({ name }) => name)).size).toBe(twice.length);
    }),
  );
});

test('no account has two more than another that would have more', () => {
  fc.assert(
    fc.property(shortages, bounds, (wanted, limits) => {
      const made = planPlaceholders(wanted, [], limits).create;
      const has = Map.groupBy(made, accountOf);
      const numberOf = (account: string): number => has.get(account)?.length ?? 0;
      for (const [account, short] of Map.groupBy(wanted, ({ accountId }) => accountId)) {
        const wish = Math.min(
          limits.accountMax,
          short.reduce((sum, { count }) => sum + count, 0),
        );
        if (numberOf(account) === wish) continue;
        for (const other of has.keys()) expect(numberOf(other) - numberOf(account)).toBeLessThanOrEqual(1);
      }
    }),
  );
});

test('nothing is left of placeholders where nobody waits', () => {
  fc.assert(
    fc.property(existing, bounds, (there, limits) => {
      expect(carriedOut(there, planPlaceholders([], there, limits))).toEqual([]);
    }),
  );
});

test('what an endpoint wants is told in its placeholder, and a change of it makes the placeholder anew', () => {
  const of = (wants: NodeWants): Shortage => ({
    ...{ endpointId: 'e1' as EndpointId, accountId: 'a1' as AccountId, count: 1, sinceMs: 0 },
    wants,
  });
  const limits = { max: 5, accountMax: 5 };
  const [made] = planPlaceholders([of(GPU)], [], limits).create;
  expect(made).toMatchObject({ name: 'placeholder-e1-0', endpointId: 'e1', request: GPU });
  const there = { ...(made as PlaceholderWish), isOver: false };
  expect(planPlaceholders([of(CPU)], [there], limits)).toEqual({ remove: ['placeholder-e1-0'], create: [] });
  expect(planPlaceholders([of(GPU)], [there], limits)).toEqual({ remove: [], create: [] });
});

test('one that has ended stands for nobody: it goes, and its name is free for another', () => {
  const wanted: Shortage = {
    ...{ endpointId: 'e1' as EndpointId, accountId: 'a1' as AccountId, count: 1, sinceMs: 0 },
    wants: CPU,
  };
  const limits = { max: 5, accountMax: 5 };
  const refused: Placeholder = { name: 'placeholder-e1-0', wants: wantsText(CPU), isOver: true };
  const plan = planPlaceholders([wanted], [refused], limits);
  expect(plan).toEqual({ remove: ['placeholder-e1-0'], create: [] });
  expect(planPlaceholders([wanted], carriedOut([refused], plan), limits).create).toMatchObject([
    { name: 'placeholder-e1-0' },
  ]);
});
