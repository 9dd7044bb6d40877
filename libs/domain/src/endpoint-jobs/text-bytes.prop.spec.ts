import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { utf8Bytes } from '../text/index.js';
import { boundedEnds, boundedText } from './text-bytes.js';

const texts = fc.string({ unit: 'binary', maxLength: 60 });

const bytesOf = (codePoint: number): number =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x1_0000 ? 3 : 4;

test('bytes are those of UTF-8', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const bytes = [...text].map((character) => bytesOf(character.codePointAt(0) ?? 0));
      expect(utf8Bytes(text)).toBe(bytes.reduce((sum, each) => sum + each, 0));
    }),
  );
});

test('a bounded text is within its bound, well formed, and takes no more than twice its size in a line of JSON', () => {
  fc.assert(
    fc.property(
      fc.oneof(texts, fc.string({ unit: 'binary-ascii' })),
      fc.integer({ min: 3, max: 80 }),
      (text, maxBytes) => {
        for (const bounded of [boundedText(text, maxBytes), boundedEnds(text, maxBytes)]) {
          expect(utf8Bytes(bounded)).toBeLessThanOrEqual(maxBytes);
          expect(bounded).not.toMatch(/\p{Surrogate}/u);
          expect(utf8Bytes(JSON.stringify(bounded))).toBeLessThanOrEqual(2 * maxBytes + 2);
        }
      },
    ),
  );
});

test('a text that fits is told as it is', () => {
  expect(boundedText('Größe: 3\n\tat line 1', 40)).toBe('Größe: 3\n\tat line 1');
  expect(boundedText('half a pair \uD83D and NUL \0', 40)).toBe('half a pair \uFFFD and NUL \uFFFD');
  expect(boundedText('abcdefghij', 8)).toBe('abcde…');
  expect(boundedEnds('half a pair \uD83D and NUL \0', 40)).toBe('half a pair \uFFFD and NUL \uFFFD');
});

test('of a text that is cut in its middle both ends stay', () => {
  expect(boundedEnds('abcdefghij', 8)).toBe('ab…ij');
  expect(boundedEnds('\0bcdefgh\0', 12)).toBe('\uFFFDb…h\uFFFD');
  expect(boundedEnds('äöü€ßéàô', 12)).toBe('äö…àô');
});
