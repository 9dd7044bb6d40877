import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { UNREAD_FILL_MAX, purgeableThrough } from './purgeable-through.js';

const EVERYTHING = Number.MAX_SAFE_INTEGER;

describe('a log waits for the job history', () => {
  test.each([
    ['which has read some of it', { readThrough: 50, agedThrough: 10, fill: 0.3 }, { through: 50, reason: 'read' }],
    ['of which nothing was heard', { readThrough: 0, agedThrough: 0, fill: 0.3 }, { through: 0, reason: 'read' }],
    [
      'which has read as far as it waits',
      { readThrough: 50, agedThrough: 50, fill: 0 },
      { through: 50, reason: 'read' },
    ],
    ['no longer than a day', { readThrough: 50, agedThrough: 90, fill: 0.69 }, { through: 90, reason: 'aged' }],
    [
      'a day, also where nothing was heard',
      { readThrough: 0, agedThrough: 9, fill: 0 },
      { through: 9, reason: 'aged' },
    ],
    ['while there is room', { readThrough: 50, agedThrough: 90, fill: 0.7 }, { through: EVERYTHING, reason: 'full' }],
  ])('%s', (_, view, decision) => {
    expect(purgeableThrough(view)).toEqual({ ...decision, readThrough: view.readThrough });
  });
});

test('what was read may always go, and only what is aged or has no room goes unread', () => {
  const views = fc.record({
    readThrough: fc.nat(),
    agedThrough: fc.nat(),
    fill: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(views, (view) => {
      const { reason, through } = purgeableThrough(view);
      expect(through).toBeGreaterThanOrEqual(view.readThrough);
      if (view.fill < UNREAD_FILL_MAX) expect(through).toBe(Math.max(view.readThrough, view.agedThrough));
      expect(reason === 'read').toBe(through === view.readThrough);
    }),
  );
});
