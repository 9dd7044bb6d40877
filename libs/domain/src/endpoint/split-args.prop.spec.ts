import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { splitArgs } from './split-args.js';

const word = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(' ', "'", '"', '\\', '$', '`', '\n', 'a') }));

const inSingleQuotes = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const inDoubleQuotes = (text: string): string => `"${text.replace(/["\\$`]/g, '\\$&')}"`;

test('quoted words come back as they were', () => {
  const quote = fc.constantFrom(inSingleQuotes, inDoubleQuotes);
  const space = fc.stringMatching(/^[ \t\r\n]+$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(word, quote, space)), (parts) => {
      const text = parts.map(([value, quoted, gap]) => quoted(value) + gap).join('');
      expect(splitArgs(text)).toEqual({ kind: 'words', words: parts.map(([value]) => value) });
    }),
  );
});

test('text without quotes, backslashes and blanks is one word', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[^\s'"\\]+$/), (text) => {
      expect(splitArgs(text)).toEqual({ kind: 'words', words: [text] });
    }),
  );
});

test('any text is answered, and blanks around it change nothing', () => {
  fc.assert(
    fc.property(word, (text) => {
      const split = splitArgs(text);
      if (split.kind === 'words') expect(splitArgs(` ${text} `)).toEqual(split);
      else expect(split.detail).toMatch(/at character \d+/);
    }),
  );
});
