import { encodeJson, toRawJson, type RawJson } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { AnswerFrames } from './answer-frames.js';

const MIB = 1024 ** 2;
const piece = (text: string, index: number, count: number): RawJson =>
  encodeJson({ output: text, part: { index, count } });
const whole = (output: string): RawJson => `{"output":${output}}` as RawJson;

describe('pieces of a hostile worker', () => {
  test('that never become whole are kept up to the size of the largest output, and then none is', () => {
    const frames = new AnswerFrames();
    const text = 'x'.repeat(MIB - 100);
    let given = 0;
    expect(() => {
      for (; given < 1_000; given += 1) frames.chunk(piece(text, given, 1_000));
    }).toThrow('has a value that is too large');
    expect(given).toBe(64);
  });

  test('that do not follow one another are refused', () => {
    const frames = new AnswerFrames();
    frames.chunk(piece('[1', 0, 3));
    expect(() => frames.chunk(piece('3]', 2, 3))).toThrow('do not fit together');
  });

  test('without end and without content are none', () => {
    const frames = new AnswerFrames();
    expect(frames.chunk(piece('', 0, 1_000_000_000))).toBe('');
    expect(frames.chunk(piece('text', 0, 1_000_000_000))).toBe('text');
    expect(frames.keptBytes).toBe(0);
  });

  test('of an attempt that was lost are no part of the next one’s', () => {
    const frames = new AnswerFrames();
    frames.chunk(piece('[{"a":', 0, 2));
    expect(frames.chunk(piece('[{"b":', 0, 2))).toBe('');
    expect(frames.chunk(piece('1}]', 1, 2))).toBe('data: {"b":1}\n\n');
    expect(frames.keptBytes).toBe(0);
  });

  test.each(['"a"', 'null', '{"index":0}', '{"index":"0","count":"2"}', '{"index":2,"count":2}', '[[[[]]]]'])(
    'are only what says so: %j is a member of the worker’s own',
    (part) => {
      const frames = new AnswerFrames();
      const body = toRawJson(`{"output":"text","part":${part}}`);
      expect([frames.chunk(body), frames.keptBytes]).toEqual(['text', 0]);
      expect(frames.chunk(toRawJson('{"output":{"a":1},"part":{"index":0,"count":2}}'))).toBe('data: {"a":1}\n\n');
    },
  );
});

describe('a value of which events would take all memory is refused before any is made:', () => {
  test.each([
    ['a list of millions of items', `[${'1,'.repeat(5_000_000)}1]`, 'is a list of too many items'],
    ['millions of lines', `{"a":[${'1,\n'.repeat(5_000_000)}1]}`, 'has too many lines'],
    ['millions of ends of lines', `[${'\r'.repeat(5_000_000)}]`, 'has too many lines'],
  ])('%s', (_, output, reason) => {
    const frames = new AnswerFrames();
    expect(() => frames.output(output as RawJson)).toThrow(reason);
    expect(() => frames.chunk(whole(output))).toThrow(reason);
    expect(frames.hasBegun).toBe(false);
  });

  test('100,000 items are not', () => {
    const text = new AnswerFrames().output(`[${'{},'.repeat(99_999)}{}]` as RawJson);
    expect(text).toHaveLength(100_000 * 'data: {}\n\n'.length);
  });
});
