import { describe, expect, test } from '@jest/globals';
import { encodeJson, type RawJson } from '@berth/domain';
import fc from 'fast-check';
import { jobText } from './job-text.js';

describe('a job for a worker', () => {
  const facts = { jobId: 'j1', delayTimeMs: 5, retries: 1 };

  test('holds the input as the text that was sent, and every other member of the request but those that are ours', () => {
    fc.assert(
      fc.property(fc.json(), fc.dictionary(fc.string(), fc.jsonValue()), (input, others) => {
        const text = jobText({ ...facts, input: input as RawJson, extras: encodeJson(others) });
        expect(text).toContain(`"input":${input}`);
        const { id: _id, input: _input, delayTime: _delay, retries: _retries, ...rest } = others;
        const plain = JSON.parse(JSON.stringify(rest)) as object;
        const ours = { id: 'j1', input: JSON.parse(input) as unknown, delayTime: 5, retries: 1 };
        expect(JSON.parse(text)).toEqual({ ...plain, ...ours });
      }),
    );
  });
});
