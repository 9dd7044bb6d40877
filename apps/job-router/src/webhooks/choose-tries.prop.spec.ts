import type { AccountId, EndpointId, JobId } from '@berth/domain';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { candidateName, chooseTries, type Candidate, type SendLimits } from './choose-tries.js';

const candidates = fc.uniqueArray(
  fc.record({
    endpointId: fc.constantFrom('e1', 'e2').map((id) => id as EndpointId),
    jobId: fc.nat(40).map((n) => `j${n}` as JobId),
    attempt: fc.constantFrom(1, 2),
    accountId: fc.constantFrom('a1', 'a2', 'a3').map((id) => id as AccountId),
    host: fc.constantFrom('one.example', 'two.example:8443'),
    bytes: fc.constantFrom(10, 2 * 1024 ** 2),
  }),
  { selector: candidateName, maxLength: 60 },
);

const limits = fc.record({
  total: fc.integer({ min: 1, max: 20 }),
  perAccount: fc.integer({ min: 1, max: 10 }),
  perHost: fc.integer({ min: 1, max: 5 }),
  large: fc.integer({ min: 0, max: 3 }),
});

const largest = (all: readonly Candidate[], nameOf: (each: Candidate) => string): number =>
  Math.max(0, ...Object.values(Object.groupBy(all, nameOf)).map((group) => group?.length ?? 0));

const fits = (all: readonly Candidate[], given: SendLimits): boolean =>
  all.length <= given.total &&
  largest(all, ({ accountId }) => accountId) <= given.perAccount &&
  largest(all, ({ accountId, host }) => `${accountId} ${host}`) <= given.perHost &&
  all.filter(({ bytes }) => bytes > 1024 ** 2).length <= given.large;

test('no limit is ever exceeded, nothing is begun twice, and nothing that would fit is left', () => {
  fc.assert(
    fc.property(candidates, limits, fc.nat(60), (all, given, cut) => {
      const running = chooseTries(all.slice(0, cut), new Map(), given);
      const underWay = new Map(running.map((each) => [candidateName(each), each]));
      const chosen = chooseTries(all, underWay, given);
      const now = [...running, ...chosen];
      expect(fits(now, given)).toBe(true);
      expect(new Set(now.map(candidateName)).size).toBe(now.length);
      for (const left of all.filter((each) => !now.includes(each))) expect(fits([...now, left], given)).toBe(false);
    }),
  );
});
