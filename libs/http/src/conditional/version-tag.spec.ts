import { describe, expect, test } from '@jest/globals';
import { isFresh, parseIfMatch, requireVersion } from './version-tag.js';

const accepts = (header: string, version: number): boolean => {
  try {
    requireVersion(parseIfMatch(header), version);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'precondition-failed', tag: `"${version}"` });
    return false;
  }
};

describe('If-Match', () => {
  test.each([
    ['"7"', true],
    [' "7" ', true],
    ['*', true],
    ['"6", "7"', true],
    ['"6","7"', true],
    [', "7" ,', true],
    ['"a,b", "7"', true],
    ['"6"', false],
    ['"77"', false],
    ['W/"7"', false],
    ['""', false],
    ['"\u00e9"', false],
  ])('%s accepts version 7: %s', (header, isAccepted) => {
    expect(accepts(header, 7)).toBe(isAccepted);
  });

  test.each(['', '7', '"7', '7"', "'7'", '"7" "8"', '"7"; "8"', 'w/"7"', '*, "7"', '"a b"', ',', '"7",*'])(
    'that cannot be read (%j) is refused',
    (header) => {
      expect(() => parseIfMatch(header)).toThrow(expect.objectContaining({ code: 'invalid-header' }));
    },
  );

  test('that is missing accepts every version', () => {
    expect(() => {
      requireVersion(null, 3);
    }).not.toThrow();
  });

  test('of many members is read in a time that grows with its length only', () => {
    expect(accepts(`${'"x",'.repeat(4_000)}"7"`, 7)).toBe(true);
    expect(() => parseIfMatch(`${' '.repeat(16_000)}x`)).toThrow();
  });
});

test.each([
  ['"7"', true],
  ['W/"7"', true],
  ['*', true],
  ['"6", W/"7"', true],
  ['"6"', false],
  ['7', false],
  ['', false],
])('If-None-Match %s says that version 7 is known: %s', (header, isKnown) => {
  expect(isFresh(header, 7)).toBe(isKnown);
});
