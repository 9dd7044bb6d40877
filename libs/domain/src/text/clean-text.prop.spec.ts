import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cleanText } from './clean-text.js';

describe('text of a stranger', () => {
  test.each([
    ['a zero, which no database takes', 'a\0b', 'a b'],
    ['a lone surrogate, which is no Unicode', 'a\ud83d!', 'a\ufffd!'],
    ['an order to read backwards', 'user\u202egnp.exe\u2066x\u2069', 'usergnp.exex'],
    ['colours', '\u001b[1;31mred\u001b[0m alert', 'red alert'],
    ['lines', 'first\r\nsecond\u2028third\n', 'first second third'],
    ['any script', 'größe 數據 🙂 עברית', 'größe 數據 🙂 עברית'],
  ])('with %s is shown as plain text', (_, text, shown) => {
    expect(cleanText(text, 100)).toBe(shown);
  });

  test('is cut where it is too long, says so, and tears no character', () => {
    expect(cleanText('x'.repeat(5_000), 10)).toBe(`${'x'.repeat(9)}…`);
    expect(cleanText('12🙂45', 4)).toBe('12…');
    expect(cleanText('1234', 4)).toBe('1234');
  });

  test('may be stored and shown whatever was written, and stays as it is when it is cleaned again', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 200 }), (written, max) => {
        const shown = cleanText(written, max);
        expect(shown.length).toBeLessThanOrEqual(max);
        expect(shown.isWellFormed()).toBe(true);
        expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
        expect(cleanText(shown, max)).toBe(shown);
      }),
    );
  });
});
