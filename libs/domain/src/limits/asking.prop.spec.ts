import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { admitQuestion, endQuestion, startAsking, type Asking } from './asking.js';

const LIMIT = { atOnceMax: 3, rate: { tokensMax: 5, tokensPerSecond: 2 } };
/** A question, the end of one, or so many milliseconds without either. */
const steps = fc.array(fc.oneof(fc.constant('ask' as const), fc.constant('end' as const), fc.nat(2_000)), {
  maxLength: 200,
});

test('a host that asks without end has never more under way, nor more let in, than it may', () => {
  fc.assert(
    fc.property(steps, (walk) => {
      let [nowMs, admitted] = [0, 0];
      let asking: Asking = startAsking(LIMIT, nowMs);
      for (const step of walk) {
        if (typeof step === 'number') nowMs += step;
        else if (step === 'end') asking = endQuestion(asking);
        else {
          const before = asking.underWay;
          const { fault, asking: after } = admitQuestion(asking, LIMIT, nowMs);
          if (fault === 'too-many-at-once') expect(before).toBe(LIMIT.atOnceMax);
          if (fault === null) admitted += 1;
          expect(after.underWay).toBe(fault === null ? before + 1 : before);
          asking = after;
        }
        expect(asking.underWay).toBeGreaterThanOrEqual(0);
        expect(asking.underWay).toBeLessThanOrEqual(LIMIT.atOnceMax);
      }
      expect(admitted).toBeLessThanOrEqual(LIMIT.rate.tokensMax + (nowMs / 1_000) * LIMIT.rate.tokensPerSecond);
    }),
  );
});

test('a refused question says why, and whoever waits is let in again', () => {
  let asking = startAsking(LIMIT, 0);
  const ask = (nowMs: number) => {
    const verdict = admitQuestion(asking, LIMIT, nowMs);
    asking = verdict.asking;
    return verdict.fault;
  };
  expect([ask(0), ask(0), ask(0), ask(0)]).toEqual([null, null, null, 'too-many-at-once']);
  for (let n = 0; n < 3; n += 1) asking = endQuestion(asking);
  expect([ask(0), ask(0)]).toEqual([null, null]);
  asking = endQuestion(asking);
  expect(ask(0)).toBe('too-fast');
  expect(ask(500)).toBe(null);
});
