import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sliceItems, sliceMembers } from './slice-members.js';

/** JSON text as people and machines write it: any space, any escape, any number, members that repeat. */
const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const number = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,20})?([eE][+-]?\d{1,4})?$/);

const character = fc.oneof(
  fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '\n', '\u0000', '🚀', 'é', '\ud800'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);
const escapeAll = (text: string): string =>
  [...text]
    .flatMap((each) => each.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`))
    .join('');
const string = fc
  .tuple(fc.array(character, { maxLength: 8 }), fc.boolean())
  .map(([characters, isEscaped]) =>
    isEscaped ? `"${escapeAll(characters.join(''))}"` : JSON.stringify(characters.join('')),
  );

const joined = (open: string, items: fc.Arbitrary<string>, close: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(fc.tuple(space, items, space), { maxLength: 5 }), space)
    .map(
      ([parts, inner]) => open + (parts.length === 0 ? inner : parts.map((part) => part.join('')).join(',')) + close,
    );

const { value, object, array } = fc.letrec<{ value: string; object: string; array: string; member: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    string,
    fc.constantFrom('true', 'false', 'null'),
    tie('array'),
    tie('object'),
  ),
  array: joined('[', tie('value'), ']'),
  member: fc
    .tuple(string, space, space, tie('value'))
    .map(([name, before, after, text]) => `${name}${before}:${after}${text}`),
  object: joined('{', tie('member'), '}'),
}));

test('agrees with JSON.parse on every object, member by member', () => {
  fc.assert(
    fc.property(space, object, space, (before, text, after) => {
      const whole = before + text + after;
      const parsed = JSON.parse(whole) as Record<string, unknown>;
      const members = sliceMembers(whole);
      expect(new Set(members.keys())).toEqual(new Set(Object.keys(parsed)));
      for (const [name, slice] of members) expect(JSON.parse(slice)).toEqual(parsed[name]);
    }),
  );
});

test('agrees with JSON.parse on every array, item by item', () => {
  fc.assert(
    fc.property(space, array, space, (before, text, after) => {
      const whole = before + text + after;
      expect(sliceItems(whole).map((item) => JSON.parse(item) as unknown)).toEqual(JSON.parse(whole));
    }),
  );
});

test('a value keeps its text, whatever stands around it', () => {
  fc.assert(
    fc.property(string, value, space, (name, text, gap) => {
      const whole = `{${gap}"before"${gap}:[{}]${gap},${name}:${gap}${text}${gap},"after":"}"}`;
      fc.pre(!['before', 'after'].includes(JSON.parse(name) as string));
      expect(sliceMembers(whole).get(JSON.parse(name) as string)).toBe(text);
      expect(sliceItems(`[0,${gap}${text}${gap}]`)).toEqual(['0', text]);
    }),
  );
});

test('agrees with what JSON.stringify writes, with any indentation', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(4), (given, indent) => {
      const members = sliceMembers(JSON.stringify(given, null, indent));
      expect(members.size).toBe(Object.keys(given).length);
      for (const [name, slice] of members) expect(JSON.parse(slice)).toEqual(JSON.parse(JSON.stringify(given[name])));
    }),
  );
});

/** What a hostile host may have stored as an output: text of JSON's characters that is no JSON. */
const broken = fc.stringMatching(/^[ {}[\]",:\\a1]{0,24}$/);

test('text that is no JSON is walked once and never holds its reader for ever', () => {
  fc.assert(
    fc.property(broken, (text) => {
      expect(sliceItems(text).length).toBeLessThanOrEqual(text.length);
      try {
        expect(sliceMembers(text).size).toBeLessThanOrEqual(text.length);
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
      }
    }),
    { numRuns: 2_000 },
  );
});
