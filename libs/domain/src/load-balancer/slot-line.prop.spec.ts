import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SlotLine, type SlotAsk } from './slot-line.js';

interface Router {
  readonly name: number;
}
const routersOf = (count: number): Router[] => Array.from({ length: count }, (_, name) => ({ name }));

test('askers that always want more have equally many, to one, as soon as each request of before has ended', () => {
  const scene = fc.record({
    routers: fc.integer({ min: 2, max: 5 }),
    slots: fc.integer({ min: 1, max: 12 }),
    ends: fc.array(fc.nat(1_000), { maxLength: 100 }),
    isReversed: fc.boolean(),
  });
  fc.assert(
    fc.property(scene, ({ ends, isReversed, routers: count, slots }) => {
      const routers = routersOf(count);
      const line = new SlotLine<Router, SlotAsk<Router>>();
      // The first has everything before anybody else comes.
      const holders = Array.from({ length: slots }, () => routers[0] as Router);
      for (const router of holders) line.given(router);
      const served = new Map(routers.map((router) => [router, 0]));
      const end = (at: number): void => {
        for (const asker of isReversed ? routers.toReversed() : routers) line.enter({ asker });
        line.returned(holders.splice(at, 1)[0] as Router);
        const ask = line.next() as SlotAsk<Router>;
        line.leave(ask);
        line.given(ask.asker);
        holders.push(ask.asker);
        served.set(ask.asker, (served.get(ask.asker) ?? 0) + 1);
      };
      for (const each of ends) end(each % slots);
      for (let oldest = 0; oldest < slots * 2 + count; oldest += 1) end(0);
      const had = routers.map((router) => holders.filter((each) => each === router).length);
      expect(Math.max(...had) - Math.min(...had)).toBeLessThanOrEqual(1);
      const times = [...served.values()];
      expect(Math.min(...times)).toBeGreaterThan(0);
      if (slots === 1) expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(1);
    }),
  );
});

test('a slot that comes free goes to who has the fewest, then to who was given one longest ago, then to who came first', () => {
  const [a, b, c] = routersOf(3) as [Router, Router, Router];
  const line = new SlotLine<Router, SlotAsk<Router>>();
  for (const asker of [a, a, b]) line.given(asker);
  for (const asker of [a, b, c]) line.enter({ asker });
  const take = (): Router | undefined => {
    const ask = line.next();
    if (ask === null) return undefined;
    line.leave(ask);
    line.given(ask.asker);
    return ask.asker;
  };
  expect([take(), take(), take(), take()]).toEqual([c, b, a, undefined]);
  line.returned(a);
  line.returned(a);
  line.returned(b);
  for (const asker of [c, b, a]) line.enter({ asker });
  // Each has one by now.
  expect([take(), take(), take()]).toEqual([c, b, a]);
});

test('one question of each asker is in line, of so many askers, and who leaves is asked about no more', () => {
  const routers = routersOf(70);
  const line = new SlotLine<Router, SlotAsk<Router>>();
  const asks = routers.map((asker) => ({ asker }));
  expect(asks.filter((ask) => line.enter(ask))).toHaveLength(64);
  expect(line.enter({ asker: routers[0] as Router })).toBe(false);
  // A question that never got in takes nobody's place.
  line.leave({ asker: routers[0] as Router });
  expect(line.size).toBe(64);
  for (const ask of line.all()) line.leave(ask);
  expect([line.size, line.next()]).toEqual([0, null]);
});
