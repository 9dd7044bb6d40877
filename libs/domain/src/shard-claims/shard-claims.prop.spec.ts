import { test } from '@jest/globals';
import fc from 'fast-check';
import { checkCalm, checkSteady } from '../../test/shard-claims/check-world.js';
import { leaderChanges, mixedStories, stories } from '../../test/shard-claims/claim-stories.js';

test('two routers never trust one shard, terms rise, and after all faults each shard has one owner, fairly and for good', () => {
  fc.assert(
    fc.property(stories(), (story) => checkCalm(story)),
    { numRuns: 100 },
  );
});

test('a change of the leader of the broker moves no claim', () => {
  fc.assert(
    fc.property(leaderChanges(), (story) => checkSteady(story)),
    { numRuns: 40 },
  );
});

test('no router has a shard whose logs it does not read, and the others have one owner all the same', () => {
  fc.assert(
    fc.property(mixedStories(), (story) => checkCalm(story)),
    { numRuns: 60 },
  );
});
