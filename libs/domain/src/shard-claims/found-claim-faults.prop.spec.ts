import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checkCalm, checkSteady } from '../../test/shard-claims/check-world.js';
import { leaderChanges, stories } from '../../test/shard-claims/claim-stories.js';
import type { Doctor, WorldOptions } from '../../test/shard-claims/surroundings.js';
import type { ClaimWriteKind, ShardClaim } from './index.js';

/** Faults that a rule might have; a change that brings one in must be told of it, in these words. */
const UNSAFE: readonly (readonly [fault: string, told: RegExp, doctor: Doctor])[] = [
  [
    'trust that counts from the arrival of the answer',
    /is trusted by .* and /,
    { answered: (write, nowMs) => ({ ...write, sentAtMs: nowMs }) },
  ],
  [
    'a takeover without another term',
    /term \d after \d/,
    { write: (write, kind) => (kind === 'take' ? { ...write, claim: sameTerm(write.claim) } : write) },
  ],
  ['a takeover without compare-and-set', /is trusted by .* and |term \d after \d/, blindly('take')],
  ['a renewal that replaces the claim of another', /is trusted by .* and |term \d after \d/, blindly('renew')],
  ['a handover that replaces the claim of another', /is trusted by .* and |term \d after \d/, blindly('hand-over')],
];

test.each(UNSAFE)('%s is found', (_, told, doctor) => {
  expect(complaint(stories(), checkCalm, doctor)).toMatch(told);
});

test('four seconds that count though nothing of ours was acknowledged are found', () => {
  const state: Doctor['state'] = (known, nowMs) => {
    known.acknowledgements = { sinceMs: Number.NEGATIVE_INFINITY, lastMs: nowMs };
  };
  expect(complaint(leaderChanges(), checkSteady, { state })).toMatch(/claims have moved/);
});

/** What the first story says in which the fault is found. */
function complaint(told: fc.Arbitrary<WorldOptions>, check: (story: WorldOptions) => void, doctor: Doctor): string {
  const property = fc.property(told, (story) => check({ ...story, doctor }));
  const { errorInstance } = fc.check(property, { numRuns: 2_000, endOnFailure: true });
  return errorInstance instanceof Error ? errorInstance.message : 'nothing was found';
}

const sameTerm = (claim: ShardClaim): ShardClaim => ({ ...claim, term: Math.max(1, claim.term - 1) });

/** Writes of a kind replace whatever is there. */
function blindly(kind: ClaimWriteKind): Doctor {
  return { replaces: (write, at) => (at.kind === kind ? at.actual : write.replaces) };
}
