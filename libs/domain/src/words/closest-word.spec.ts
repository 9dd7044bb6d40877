import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { closestWord } from './closest-word.js';

const POOLS = ['AMPERE_16', 'AMPERE_24', 'ADA_24', 'ADA_32_PRO', 'HOPPER_141'];

test.each([
  ['ADA24', 'ADA_24'],
  ['ada_24', 'ADA_24'],
  ['AD_A24', 'ADA_24'],
  ['AMPRE_24', 'AMPERE_24'],
  ['HOPER_114', 'HOPPER_141'],
  ['NOPE', null],
  ['', null],
  ['A'.repeat(100_000), null],
])('%.20s is taken for %s', (word, expected) => {
  expect(closestWord(word, POOLS)).toBe(expected);
});

test('a known word is the closest to itself', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z_]{1,20}$/), { minLength: 1 }), (known) => {
      for (const word of known) expect(closestWord(word, known)).toBe(word);
    }),
  );
});
