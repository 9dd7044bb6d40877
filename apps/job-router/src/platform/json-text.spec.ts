import { toRawJson } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { arrayText, objectText } from './json-text.js';

describe('JSON text', () => {
  test('values keep their own text: numbers, key order, spaces, escapes', () => {
    const value = toRawJson('{"b":1.0,"a": 12345678901234567890,"\\u00e9":"\\ud83d"}');

    expect(objectText([['output', value]])).toBe(`{"output":${value}}`);
    expect(arrayText([value, toRawJson('1e2')])).toBe(`[${value},1e2]`);
  });

  test('names are escaped', () => {
    expect(objectText([['a"b\n', toRawJson('null')]])).toBe('{"a\\"b\\n":null}');
  });

  test('nothing makes an empty object and an empty list', () => {
    expect(objectText([])).toBe('{}');
    expect(arrayText([])).toBe('[]');
  });
});
