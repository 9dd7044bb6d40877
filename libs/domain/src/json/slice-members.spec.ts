import { describe, expect, test } from '@jest/globals';
import { encodeJson, toRawJson } from './raw-json.js';
import { sliceMembers } from './slice-members.js';

describe('sliceMembers keeps the text of each member', () => {
  test.each<[string, Record<string, string>]>([
    ['{}', {}],
    [' \t\r\n{ \n } ', {}],
    ['{"a":1}', { a: '1' }],
    ['{ "a" :\t1.0 , "b" : 1e400\n}', { a: '1.0', b: '1e400' }],
    ['{"big":12345678901234567890123,"neg":-0,"exp":1E+2}', { big: '12345678901234567890123', neg: '-0', exp: '1E+2' }],
    ['{"a":null,"b":true,"c":false}', { a: 'null', b: 'true', c: 'false' }],
    ['{"a":"x,}]\\"{[\\\\"}', { a: '"x,}]\\"{[\\\\"' }],
    ['{"a":{"b":[1,{"c":"}"}],"d":"]"} ,"e":[ [ ] , { } ]}', { a: '{"b":[1,{"c":"}"}],"d":"]"}', e: '[ [ ] , { } ]' }],
    ['{"a":1,"a":{"b":2}}', { a: '{"b":2}' }],
    ['{"\\u0061\\n":1}', { 'a\n': '1' }],
    ['{"":0,"__proto__":1,"constructor":2}', { '': '0', ['__proto__']: '1', constructor: '2' }],
    ['{"s":"\\ud83d\\ude80 größe \\u0000","raw":"🚀"}', { s: '"\\ud83d\\ude80 größe \\u0000"', raw: '"🚀"' }],
    ['{"a":"\\\\","b":"\\\\\\""}', { a: '"\\\\"', b: '"\\\\\\""' }],
  ])('%j', (text, expected) => {
    expect(Object.fromEntries(sliceMembers(text))).toEqual(expected);
  });
});

test('deep nesting costs no stack', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  expect(sliceMembers(`{"deep":${deep}}`).get('deep')).toBe(deep);
});

describe('RawJson', () => {
  test('is the text that came', () => {
    expect(toRawJson(' {"a": 1.0} ')).toBe(' {"a": 1.0} ');
  });

  test.each(['', '{', '1 2', 'undefined', "{'a':1}", '\uFEFF{}'])('refuses %j', (text) => {
    expect(() => toRawJson(text)).toThrow(SyntaxError);
  });

  test.each<[unknown, string]>([
    [{ a: [1, null] }, '{"a":[1,null]}'],
    [undefined, 'null'],
    [() => 1, 'null'],
    ['x', '"x"'],
  ])('of a value made here', (value, text) => {
    expect(encodeJson(value)).toBe(text);
  });
});
