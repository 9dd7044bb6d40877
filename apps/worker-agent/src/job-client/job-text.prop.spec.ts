import { describe, expect, test } from '@jest/globals';
import { encodeJson, type RawJson } from '@berth/domain';
import fc from 'fast-check';
import { jobText } from './job-text.js';

describe('a job for a worker', () => {
  const facts = { jobId: 'j1', delayTimeMs: 5, retries: 1, traceparent: null };

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

  test('names its step only where the trace is recorded: then it is ours to say', () => {
    const job = { ...facts, input: encodeJson({}), extras: encodeJson({ traceparent: 'of the caller' }) };
    expect(JSON.parse(jobText(job))).toMatchObject({ traceparent: 'of the caller' });
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const text = jobText({ ...job, traceparent });
    expect(JSON.parse(text)).toMatchObject({ traceparent });
    expect(text).not.toContain('of the caller');
  });
});
