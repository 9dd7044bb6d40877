import { test } from '@jest/globals';
import fc from 'fast-check';
import { playStory } from '../../test/endpoint-jobs/play-story.js';
import { stories } from '../../test/endpoint-jobs/stories.js';

test('whatever is asked in whatever order: the same answers as the model, and a replay of the log is the same state', () => {
  fc.assert(
    fc.property(stories(60), (story) => {
      playStory(story);
    }),
    { numRuns: 400 },
  );
});
