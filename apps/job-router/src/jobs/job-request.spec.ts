import { PlatformError } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { EXTRAS_MAX_BYTES } from '../platform.port.js';
import { parseJobRequest } from './job-request.js';

const failuresOf = (body: string): readonly string[] => {
  try {
    parseJobRequest(body);
  } catch (error) {
    if (error instanceof PlatformError) return error.errors ?? [error.code];
    throw error;
  }
  return [];
};

describe('a job request', () => {
  test('defaults: a day to live, the endpoint decides the timeout, normal priority, no webhook', () => {
    expect(parseJobRequest('{"input":{}}')).toEqual({
      input: '{}',
      extras: '{}',
      webhook: null,
      executionTimeoutMs: null,
      ttlMs: 86_400_000,
      isLowPriority: false,
    });
  });

  test('input keeps its very text, all other members are kept for the worker', () => {
    const input = '{ "n": 1.0, "big": 12345678901234567890, "u": "\\u00e9" }';
    const request = parseJobRequest(
      `{"a":[1, 2],"input":${input},"s3Config":{"bucketName":"b"},"policy":{"ttl":10000}}`,
    );

    expect(request.input).toBe(input);
    expect(request.extras).toBe('{"a":[1, 2],"s3Config":{"bucketName":"b"},"policy":{"ttl":10000}}');
    expect(request.ttlMs).toBe(10_000);
  });

  test('the whole policy', () => {
    const policy = { executionTimeout: 5_000, ttl: 604_800_000, lowPriority: true };

    expect(parseJobRequest(JSON.stringify({ input: {}, policy }))).toMatchObject({
      executionTimeoutMs: 5_000,
      ttlMs: 604_800_000,
      isLowPriority: true,
    });
  });

  test('what is null counts as not given', () => {
    const body = '{"input":{},"webhook":null,"policy":null,"s3Config":null}';
    expect(failuresOf(body)).toEqual([]);
    expect(failuresOf('{"input":{},"policy":{"ttl":null,"executionTimeout":null,"lowPriority":null}}')).toEqual([]);
  });

  test.each([
    ['{}', '$.input: is required'],
    ['{"input":null}', '$.input: must be an object'],
    ['{"input":[]}', '$.input: must be an object'],
    ['{"input":"text"}', '$.input: must be an object'],
    ['[]', '$: must be an object'],
    ['"text"', '$: must be an object'],
    ['null', '$: must be an object'],
    ['{"input":{},"webhook":1}', '$.webhook: must be an http or https URL'],
    ['{"input":{},"webhook":"nowhere"}', '$.webhook: must be an http or https URL'],
    ['{"input":{},"webhook":"ftp://a.example/x"}', '$.webhook: must be an http or https URL'],
    ['{"input":{},"webhook":""}', '$.webhook: must be an http or https URL'],
    ['{"input":{},"policy":[]}', '$.policy: must be an object'],
    [
      '{"input":{},"policy":{"executionTimeout":4999}}',
      '$.policy.executionTimeout: must be an integer from 5000 to 604800000 (milliseconds)',
    ],
    [
      '{"input":{},"policy":{"executionTimeout":604800001}}',
      '$.policy.executionTimeout: must be an integer from 5000 to 604800000 (milliseconds)',
    ],
    [
      '{"input":{},"policy":{"executionTimeout":"9000"}}',
      '$.policy.executionTimeout: must be an integer from 5000 to 604800000 (milliseconds)',
    ],
    ['{"input":{},"policy":{"ttl":9999}}', '$.policy.ttl: must be an integer from 10000 to 604800000 (milliseconds)'],
    [
      '{"input":{},"policy":{"ttl":10000.5}}',
      '$.policy.ttl: must be an integer from 10000 to 604800000 (milliseconds)',
    ],
    [
      '{"input":{},"policy":{"ttl":604800001}}',
      '$.policy.ttl: must be an integer from 10000 to 604800000 (milliseconds)',
    ],
    ['{"input":{},"policy":{"lowPriority":"yes"}}', '$.policy.lowPriority: must be a boolean'],
    ['{"input":{},"s3Config":"bucket"}', '$.s3Config: must be an object'],
    ['', 'body-not-json'],
    ['{"input":{}', 'body-not-json'],
    ['{"input":{}}x', 'body-not-json'],
    ["{'input':{}}", 'body-not-json'],
  ])('%s is refused: %s', (body, failure) => {
    expect(failuresOf(body)).toEqual([failure]);
  });

  test('every failure is named at once', () => {
    expect(failuresOf('{"webhook":3,"policy":{"ttl":1,"lowPriority":0}}')).toHaveLength(4);
  });

  test('members beside the input are bounded, the input is not', () => {
    const long = 'x'.repeat(EXTRAS_MAX_BYTES);
    expect(failuresOf(JSON.stringify({ input: {}, note: long }))).toEqual([
      `$: the members beside "input" may take at most ${EXTRAS_MAX_BYTES} bytes`,
    ]);
    expect(failuresOf(JSON.stringify({ input: { long } }))).toEqual([]);
  });

  test('of a member that repeats, the last one counts for the check and for the worker', () => {
    expect(parseJobRequest('{"input":1,"input":{"a":2}}').input).toBe('{"a":2}');
    expect(failuresOf('{"input":{},"input":1}')).toEqual(['$.input: must be an object']);
  });
});
