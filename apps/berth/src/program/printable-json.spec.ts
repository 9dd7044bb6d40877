import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { printableJson } from './printable-json.js';

const HOSTILE = ['\u001b[31m', '\u009b31m', '\u007f', '\u0085', '\u2028', '\u202e', '\u2066', '\n', '\ud800'];
const texts = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary' })))
  .map((parts) => parts.join(''));

test('of any value nothing speaks to a terminal, and nothing is lost', () => {
  fc.assert(
    fc.property(fc.dictionary(texts, fc.oneof(texts, fc.integer(), fc.array(texts))), (value) => {
      const line = printableJson(value);
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
      expect(JSON.stringify(JSON.parse(line))).toBe(JSON.stringify(value));
      expect(JSON.stringify(JSON.parse(printableJson(value, 2)))).toBe(JSON.stringify(value));
    }),
  );
});
