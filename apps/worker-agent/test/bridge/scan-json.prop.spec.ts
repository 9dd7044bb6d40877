import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { JSON_DEPTH_MAX, scanJson, type JsonScan, sliceMembers } from '@berth/domain';

const WANTED = new Set(['output', 'error']);

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const membersOf = (text: string, scan: JsonScan): Record<string, string> => {
  if (scan.kind !== 'object') return {};
  const bytes = Buffer.from(text);
  return Object.fromEntries(
    [...scan.members].map(([name, { start, end }]) => [name, bytes.subarray(start, end).toString()]),
  );
};

const scanText = (text: string): JsonScan => scanJson(Buffer.from(text), WANTED);

describe('the scan of JSON text', () => {
  test('accepts what JSON.parse accepts', () => {
    fc.assert(fc.property(fc.json(), (text) => expect(['object', 'other']).toContain(scanText(text).kind)));
  });

  test('refuses what JSON.parse refuses, however little is wrong', () => {
    const noise = fc.constantFrom(
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      '1',
      '-',
      '+',
      '.',
      'e',
      ' ',
      '\n',
      'u',
      'n',
    );
    const edit = fc.record({
      text: fc.json({ maxDepth: 3 }),
      at: fc.nat(),
      cut: fc.nat(2),
      put: fc.string({ unit: noise, maxLength: 2 }),
    });
    fc.assert(
      fc.property(edit, ({ text, at, cut, put }) => {
        const start = at % (text.length + 1);
        const edited = (text.slice(0, start) + put + text.slice(start + cut)).toWellFormed();
        expect(['object', 'other'].includes(scanText(edited).kind)).toBe(isJson(edited));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    '01',
    '1.',
    '.5',
    '1e',
    '1e+',
    '-',
    '+1',
    '--1',
    '0x1',
    'tru',
    'truee',
    'nul',
    'True',
    '"\\x"',
    '"\\u12g4"',
    '"\\u123',
    '"\n"',
    '"\u0000"',
    '"',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{a:1}',
    '[1,]',
    '[,1]',
    '[1 2]',
    ']',
    '[}',
    '{]',
    '1 2',
    '',
    ' ',
    '\ufeff{}',
    "{'a':1}",
    '{"a":1}}',
    '[[]',
    'Nan',
    'NaN1',
    '-NaN',
    'Infinit',
    '1NaN',
  ])('refuses %j', (text) => {
    expect(scanText(text)).toEqual({ kind: 'not-json' });
  });

  test('finds the wanted members of the outermost object alone, the last one where a name repeats', () => {
    const member = fc.tuple(
      fc.constantFrom('"output"', '"\\u006futput"', '"error"', '"other"', '"outputs"', '""'),
      fc.json({ maxDepth: 2 }),
    );
    fc.assert(
      fc.property(fc.array(member), fc.constantFrom('', ' ', '\n\t'), (members, space) => {
        const text = `${space}{${members.map(([name, value]) => `${space}${name}${space}:${space}${value}${space}`).join(',')}}`;
        const all = Object.fromEntries([...sliceMembers(text)].filter(([name]) => WANTED.has(name)));
        expect(membersOf(text, scanText(text))).toEqual(all);
      }),
    );
    const nested = '{"a":{"output":1},"b":[{"output":2}],"output":{"output":3}}';
    expect(membersOf(nested, scanText(nested))).toEqual({ output: '{"output":3}' });
    expect(scanText('[{"output":1}]')).toMatchObject({ kind: 'other', members: new Map() });
  });

  test('counts what Python writes for numbers that are none, outside of strings', () => {
    expect(scanText('[NaN,-Infinity,Infinity,"NaN",-1]')).toMatchObject({ kind: 'other', nonNumbers: 3 });
  });

  test('costs no stack: a million levels are read, and one more is refused', () => {
    const nested = (depth: number): JsonScan => scanText('['.repeat(depth) + ']'.repeat(depth));
    expect(nested(JSON_DEPTH_MAX)).toMatchObject({ kind: 'other' });
    expect(nested(JSON_DEPTH_MAX + 1)).toEqual({ kind: 'too-deep' });
    expect(scanText('['.repeat(JSON_DEPTH_MAX))).toEqual({ kind: 'not-json' });
  });
});
