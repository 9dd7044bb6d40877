import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AHEAD_TRIES_MAX, planAhead, type AheadImage, type AheadView } from './plan-ahead.js';

const NOW_MS = 1_000_000;

const image = (key: string, more: Partial<AheadImage> = {}): AheadImage => ({
  ...{ key, failures: 0, triedAtMs: null, isReady: false },
  ...more,
});
const failed = (failures: number, agoMs: number): AheadImage => image('a', { failures, triedAtMs: NOW_MS - agoMs });
const ready = (agoMs: number): AheadImage => image('a', { isReady: true, triedAtMs: NOW_MS - agoMs });

const stepOf = (view: Partial<AheadView>): string => {
  const step = planAhead({ images: [], runningKey: null, isWorkerPulling: false, ...view }, NOW_MS);
  return step.kind === 'begin' ? `begin ${step.key}` : step.kind;
};

describe('images are prepared ahead', () => {
  test.each<[string, Partial<AheadView>, string]>([
    ['in their order', { images: [image('a'), image('b')] }, 'begin a'],
    ['one at a time', { images: [image('a'), image('b')], runningKey: 'a' }, 'wait'],
    ['not while a worker waits for its own', { images: [image('a')], isWorkerPulling: true }, 'wait'],
    [
      'no longer once a worker needs the line',
      { images: [image('a')], runningKey: 'a', isWorkerPulling: true },
      'give-up',
    ],
    ['no longer once they are unwanted', { images: [image('b')], runningKey: 'a' }, 'give-up'],
    ['again after a failure, not at once', { images: [failed(1, 4_999)] }, 'wait'],
    ['again after a failure', { images: [failed(1, 5_000)] }, 'begin a'],
    ['again after a second one, later', { images: [failed(2, 29_999)] }, 'wait'],
    ['again after a second one', { images: [failed(2, 30_000)] }, 'begin a'],
    ['no more after the third', { images: [failed(3, 99_999_999)] }, 'wait'],
    ['another while one waits for its next try', { images: [failed(1, 1), image('b')] }, 'begin b'],
    ['and looked after while they are wanted', { images: [ready(300_000)] }, 'begin a'],
    ['and left alone meanwhile', { images: [ready(299_999)] }, 'wait'],
    ['what is missing before what is ready', { images: [ready(300_000), image('b')] }, 'begin b'],
  ])('%s', (_, view, expected) => {
    expect(stepOf(view)).toBe(expected);
  });
});

test('none is begun for a worker’s account, beside another, or after its last try', () => {
  const images = fc.uniqueArray(
    fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      failures: fc.nat(AHEAD_TRIES_MAX + 1),
      triedAtMs: fc.option(fc.integer({ min: 0, max: NOW_MS })),
      isReady: fc.boolean(),
    }),
    { selector: ({ key }) => key },
  );
  const views = fc.record({ images, runningKey: fc.option(fc.constantFrom('a', 'b')), isWorkerPulling: fc.boolean() });
  fc.assert(
    fc.property(views, (view) => {
      const step = planAhead(view, NOW_MS);
      if (step.kind !== 'begin') return;
      const begun = view.images.find(({ key }) => key === step.key);
      expect(view.runningKey).toBeNull();
      expect(view.isWorkerPulling).toBe(false);
      expect(begun?.triedAtMs === null || (begun?.failures ?? 9) < AHEAD_TRIES_MAX).toBe(true);
    }),
  );
});
