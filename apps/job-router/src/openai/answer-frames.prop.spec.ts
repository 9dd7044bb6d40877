import { toRawJson } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readEvents } from '../../test/bench/read-events.js';
import { AnswerFrames } from './answer-frames.js';

const chunk = (output: unknown) => toRawJson(JSON.stringify({ output }));
const eventsIn = (text: string) => readEvents([Buffer.from(text)]).map(({ data }) => data);
const answer = fc.dictionary(fc.constantFrom('id', 'choices', 'text'), fc.jsonValue(), { minKeys: 1 });

describe('the frames of an answer', () => {
  test('text goes out as it came, wherever the worker cut it', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
        const frames = new AnswerFrames();
        const sent = texts.map((text) => frames.chunk(chunk(text))).join('') + frames.end();
        expect(sent).toBe(texts.join(''));
      }),
    );
  });

  test('objects, alone or in lists, become one event each, and the end is marked', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(answer, fc.array(answer, { minLength: 1 })), { minLength: 1 }), (outputs) => {
        const frames = new AnswerFrames();
        const events = eventsIn(outputs.map((output) => frames.chunk(chunk(output))).join('') + frames.end());
        expect(events.pop()).toBe('[DONE]');
        expect(events.map((data) => JSON.parse(data) as unknown)).toEqual(JSON.parse(JSON.stringify(outputs.flat())));
      }),
    );
  });

  test('a value in pieces is one event', () => {
    const text = JSON.stringify([{ id: 'a', text: 'x'.repeat(50) }, { id: 'b' }]);
    const pieces = text.match(/.{1,7}/g) ?? [];
    const frames = new AnswerFrames();
    const sent = pieces.map((output, index) =>
      frames.chunk(toRawJson(JSON.stringify({ output, part: { index, count: pieces.length }, metrics: {} }))),
    );
    expect(eventsIn(sent.join(''))).toEqual([JSON.stringify({ id: 'a', text: 'x'.repeat(50) }), '{"id":"b"}']);
  });

  test.each([
    [['data: {"a":1}\n\n'], true],
    [['data: {"a":1}\r\n\r\n'], true],
    [['data: {"a":1}\n', '\n'], true],
    [['data: {"a"'], false],
    [['data: {"a":1}\n\n', 'd'], false],
    [[''], true],
  ])('after %j a comment breaks nothing: %j', (texts, isBetweenEvents) => {
    const frames = new AnswerFrames();
    for (const text of texts) frames.chunk(chunk(text));
    expect(frames.isBetweenEvents).toBe(isBetweenEvents);
  });

  test('an error that is streamed is a failure, and nothing is nothing', () => {
    const frames = new AnswerFrames();
    expect(frames.chunk(chunk(null)) + frames.end()).toBe('');
    expect(frames.hasBegun).toBe(false);
    expect(() => frames.chunk(chunk({ object: 'error', message: 'no model', code: 404 }))).toThrow('no model');
  });
});
