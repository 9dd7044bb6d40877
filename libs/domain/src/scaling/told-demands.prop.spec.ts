import fc from 'fast-check';
import { test } from '@jest/globals';
import { checkTold, stories } from '../../test/scaling/demand-stories.js';

test('nothing is said of an endpoint but what its owner said last of all that was heard', () => {
  fc.assert(
    fc.property(stories(), (story) => checkTold(story)),
    { numRuns: 2_000 },
  );
});
