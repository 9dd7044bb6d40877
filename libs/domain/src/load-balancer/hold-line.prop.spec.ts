import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HoldLine, type Held } from './hold-line.js';

const LIMITS = { countMax: 3, bytesMax: 100 };
const steps = fc.array(
  fc.record({
    act: fc.constantFrom('enter', 'ask', 'refuse', 'leave'),
    ...{ pick: fc.nat(9), bytes: fc.nat(60), lane: fc.constantFrom('a', 'b', 'c') },
  }),
  { maxLength: 100 },
);

test('those that wait are within both bounds, oldest first, and one that was refused has its old place', () => {
  fc.assert(
    fc.property(steps, (walk) => {
      const line = new HoldLine<Held>(LIMITS);
      /** The same by the simplest means. */
      let model: { readonly entry: Held; isAsked: boolean }[] = [];
      let comebacks = 0;
      for (const { act, bytes, lane, pick } of walk) {
        const one = model[pick % Math.max(1, model.length)];
        if (act === 'enter' && line.hasRoomFor(bytes)) {
          const entry: Held = { lane, bytes, sinceMs: 0, untilMs: 0 };
          line.enter(entry);
          model.push({ entry, isAsked: false });
        } else if (one !== undefined && act === 'leave') {
          line.leave(one.entry);
          model = model.filter((each) => each !== one);
        } else if (one !== undefined && act !== 'enter') {
          if (act === 'refuse' && one.isAsked) comebacks += 1;
          one.isAsked = act === 'ask';
          line.note(one.entry, one.isAsked);
        }
        const waiting = model.filter(({ isAsked }) => !isAsked).map(({ entry }) => entry);
        expect(line.waiting()).toEqual(waiting);
        const oldestOf = (blocked: readonly string[]) => waiting.find((each) => !blocked.includes(each.lane)) ?? null;
        for (const blocked of [[], [lane], ['a', 'b', 'c']]) {
          expect(line.next(new Set(blocked))).toBe(oldestOf(blocked));
        }
        const fronts = ['a', 'b', 'c'].flatMap((each) => waiting.find((entry) => entry.lane === each) ?? []);
        expect(new Set(line.fronts())).toEqual(new Set(fronts));
        expect(line.all()).toEqual(model.map(({ entry }) => entry));
        // Only one that had its place already may come back to a full line.
        expect(waiting.length).toBeLessThanOrEqual(LIMITS.countMax + comebacks);
        const sum = waiting.reduce((all, each) => all + each.bytes, 0);
        expect(line.hasRoomFor(0)).toBe(waiting.length < LIMITS.countMax && sum <= LIMITS.bytesMax);
      }
    }),
  );
});
