import { describe, expect, test } from '@jest/globals';
import { encodeJson } from '@berth/domain';
import fc from 'fast-check';
import { readLenient, textOf } from './lenient-json.js';
import { splitChunk } from './split-chunk.js';

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** The text that is kept, and its value; null when it is not JSON. */
function parseLenient(text: string): { readonly text: string; readonly value: unknown } | null {
  const reading = readLenient(Buffer.from(text), new Set());
  if (reading.kind !== 'json') return null;
  const kept = textOf(reading.json.utf8);
  return { text: kept, value: JSON.parse(kept) };
}

describe('JSON of a worker', () => {
  test('passes untouched when it is JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseLenient(text)).toEqual({ text, value: JSON.parse(text) });
      }),
    );
  });

  test('with NaN and infinities outside of strings becomes JSON with null in their place', () => {
    const words = fc.constantFrom('NaN', 'Infinity', '-Infinity', '"NaN"', '"a\\"NaN"', '1', '"\\\\"', 'null');
    fc.assert(
      fc.property(fc.array(words), (items) => {
        const value = parseLenient(`[${items.join(', ')}]`)?.value;
        expect(value).toEqual(items.map((item): unknown => (/^-?(NaN|Inf)/.test(item) ? null : JSON.parse(item))));
      }),
    );
  });
});

describe('a stream chunk', () => {
  const MAX = 600;

  test('that fits stays byte for byte', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
        const body = `{ "output" : ${JSON.stringify(text)}, "metrics":{"n": 1} }`;
        expect(splitChunk(body)).toEqual([body]);
      }),
    );
  });

  test('that is a long string becomes strings which together are the string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 500, maxLength: 3_000 }), (text) => {
        const chunks = splitChunk(encodeJson({ output: text, metrics: { n: 1 } }), MAX);
        for (const chunk of chunks) expect(Buffer.byteLength(chunk)).toBeLessThanOrEqual(MAX);
        const pieces = chunks.map((chunk) => JSON.parse(chunk) as { output: string; metrics: unknown; part?: unknown });
        expect(pieces.map(({ output }) => output).join('')).toBe(text);
        for (const { metrics, part } of chunks.length > 1 ? pieces : []) {
          expect(metrics).toEqual({ n: 1 });
          expect(part).toBeUndefined();
        }
        if (!LONE_SURROGATE.test(text)) {
          for (const { output } of pieces) expect(LONE_SURROGATE.test(output)).toBe(false);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('that is any other long value becomes pieces of its text that name their place', () => {
    const values = fc.array(fc.jsonValue({ maxDepth: 2 }), { minLength: 60, maxLength: 200 });
    fc.assert(
      fc.property(values, (value) => {
        const text = JSON.stringify({ output: value });
        const chunks = splitChunk(text, MAX);
        if (Buffer.byteLength(text) <= MAX) return;
        for (const chunk of chunks) expect(Buffer.byteLength(chunk)).toBeLessThanOrEqual(MAX);
        const pieces = chunks.map((chunk) => JSON.parse(chunk) as { output: string; part: unknown; metrics: unknown });
        expect(pieces.map(({ part }) => part)).toEqual(pieces.map((_, index) => ({ index, count: pieces.length })));
        expect(pieces.map(({ output }) => output).join('')).toBe(JSON.stringify(value));
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ['one byte each', 'a'],
    ['two bytes each', 'ä'],
    ['four bytes each', '🙂'],
    ['six bytes each when escaped', '\u0001'],
    ['a mixture', 'a"ä🙂\\\n數'],
  ])('of the largest size is cut at 1,000,000 bytes and nowhere else, with characters of %s', (_, unit) => {
    const text = unit.repeat(Math.ceil(1_700_000 / unit.length));
    for (const output of [text, { text, n: 1 }]) {
      const chunks = splitChunk(encodeJson({ output }));
      for (const chunk of chunks) expect(Buffer.byteLength(chunk)).toBeLessThanOrEqual(1_000_000);
      const pieces = chunks.map((chunk) => (JSON.parse(chunk) as { output: string }).output);
      for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
      expect(pieces.join('') === (output === text ? text : encodeJson(output))).toBe(true);
    }
    const limit = 1_000_000 - Buffer.byteLength('{"output":"","metrics":{}}');
    expect(splitChunk(`"${'a'.repeat(limit)}"`)).toHaveLength(1);
    expect(splitChunk(`"${'a'.repeat(limit + 1)}"`)).toHaveLength(2);
  });

  test('that is no JSON, or no object, is kept as the output of a chunk', () => {
    expect(splitChunk('plain text')).toEqual(['{"output":"plain text","metrics":{}}']);
    expect(splitChunk('[1, 2]')).toEqual(['{"output":[1, 2],"metrics":{}}']);
  });
});
