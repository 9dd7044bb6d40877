import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chooseEvictions, type EvictionView, type StoredImage } from './choose-evictions.js';
import type { ImageRecord } from './image-record.js';

const NOW_MS = 1_000_000_000;
const JUST_USED_MS = 10 * 60_000;

const view: fc.Arbitrary<EvictionView> = fc
  .record({
    images: fc.array(
      fc.record({
        bytes: fc.integer({ min: 0, max: 1_000 }),
        isUsed: fc.boolean(),
        isPulled: fc.boolean(),
        usedBeforeMs: fc.integer({ min: 0, max: 4 * JUST_USED_MS }),
      }),
      { maxLength: 12 },
    ),
    budgetBytes: fc.integer({ min: 0, max: 5_000 }),
  })
  .map(({ budgetBytes, images }) => ({
    budgetBytes,
    images: images.map(({ bytes, isUsed }, index): StoredImage => ({
      id: `i${index}`,
      bytes,
      isUsed,
      names: [`r${index}:1`, `r${index}@d`],
    })),
    records: images.flatMap(({ isPulled, usedBeforeMs }, index): readonly ImageRecord[] =>
      isPulled
        ? [
            {
              digest: 'd',
              repository: `r${index}`,
              isPublic: true,
              acceptedAtMs: {},
              lastUsedAtMs: NOW_MS - usedBeforeMs,
            },
          ]
        : [],
    ),
  }));

const pulledBytes = ({ images, records }: EvictionView): number =>
  images
    .filter(({ names }) => records.some(({ repository }) => names.includes(`${repository}:1`)))
    .reduce((sum, { bytes }) => sum + bytes, 0);

const usedAtMs = ({ records }: EvictionView, { names }: StoredImage): number =>
  records.find(({ repository }) => names.includes(`${repository}:1`))?.lastUsedAtMs ?? Number.NaN;

test('what goes was pulled by this agent, is used by no container, and not just now', () => {
  fc.assert(
    fc.property(view, (given) => {
      for (const image of chooseEvictions(given, NOW_MS)) {
        expect(image.isUsed).toBe(false);
        expect(NOW_MS - usedAtMs(given, image)).toBeGreaterThanOrEqual(JUST_USED_MS);
      }
    }),
  );
});

test('nothing goes within the budget, and above it no more than it takes', () => {
  fc.assert(
    fc.property(view, (given) => {
      const leaving = chooseEvictions(given, NOW_MS);
      const excess = pulledBytes(given) - given.budgetBytes;
      const withoutTheLast = leaving.slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0);
      if (excess <= 0) expect(leaving).toEqual([]);
      else expect(withoutTheLast).toBeLessThan(excess);
    }),
  );
});

test('what stays though it could go was used later than what goes', () => {
  fc.assert(
    fc.property(view, (given) => {
      const leaving = chooseEvictions(given, NOW_MS);
      const last = Math.max(0, ...leaving.map((image) => usedAtMs(given, image)));
      const staying = given.images.filter((image) => !leaving.includes(image) && !image.isUsed);
      for (const image of staying) {
        const at = usedAtMs(given, image);
        if (!Number.isNaN(at) && leaving.length > 0) expect(at).toBeGreaterThanOrEqual(last);
      }
    }),
  );
});
