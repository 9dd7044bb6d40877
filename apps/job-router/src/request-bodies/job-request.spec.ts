import { BATCH_REQUESTS_MAX, EXTRAS_MAX_BYTES, PlatformError } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { parseJobRequest, parseJobRequests, type JobRequest } from './job-request.js';

const failuresOf = (body: string, parse: (body: string) => unknown = parseJobRequest): readonly string[] => {
  try {
    parse(body);
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
      secretExtras: null,
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
    expect(request.extras).toBe('{"a":[1, 2],"policy":{"ttl":10000}}');
    expect(request.secretExtras).toBe('{"s3Config":{"bucketName":"b"}}');
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
    ['{"input":{},"s3Config":["bucket"]}', '$.s3Config: must be an object'],
    ['{"input":{},"s3Config":{"accessId":1}}', '$.s3Config.accessId: must be a string'],
    ['{"input":{},"s3Config":{"accessSecret":{"a":"hunter2"}}}', '$.s3Config.accessSecret: must be a string'],
    ['{"input":{},"s3Config":{"bucketName":true}}', '$.s3Config.bucketName: must be a string'],
    ['{"input":{},"s3Config":{"endpointUrl":[]}}', '$.s3Config.endpointUrl: must be a string'],
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

describe('what a caller gives in confidence', () => {
  test.each([
    ['{"input":{},"s3Config":{"accessSecret":"hunter2"}}', '{"s3Config":{"accessSecret":"hunter2"}}'],
    [
      '{"s3Config":{"x":1},"input":{},"s3Config": { "accessSecret" : "\\u0068" , "n":1.0 }}',
      '{"s3Config":{ "accessSecret" : "\\u0068" , "n":1.0 }}',
    ],
    ['{"input":{},"\\u00733Config":{"accessSecret":"hunter2"}}', '{"s3Config":{"accessSecret":"hunter2"}}'],
  ])('is kept apart, byte for byte: %s', (body, expected) => {
    const request = parseJobRequest(body);
    expect(request.secretExtras).toBe(expected);
    expect(request.extras).toBe('{}');
  });

  test('null is nothing to keep', () => {
    expect(parseJobRequest('{"input":{},"s3Config":null}')).toMatchObject({
      secretExtras: null,
      extras: '{"s3Config":null}',
    });
  });

  test('is in no refusal, and neither is what the parser says of a body', () => {
    const refusals = [
      '{"input":{},"s3Config":{"accessId":{"hunter2":1}}}',
      '{"input":{},"s3Config":{"accessSecret":"hunter2" "x"}}',
      '{"input":{},"s3Config":"hunter2"}',
    ].map((body) => {
      try {
        return parseJobRequest(body);
      } catch (error) {
        return error;
      }
    });
    expect(refusals.every((error) => error instanceof PlatformError && error.cause === undefined)).toBe(true);
    expect(JSON.stringify(refusals.map((error) => [String(error), { ...(error as object) }]))).not.toContain('hunter2');
  });
});

describe('a list of job requests', () => {
  const parse = (requests: unknown, more: object = {}): readonly JobRequest[] =>
    parseJobRequests(JSON.stringify({ requests, ...more }));

  test('each keeps its very text', () => {
    const inputs = ['{ "n": 1.0 }', '{"big":12345678901234567890}', '{"u":"\\u00e9"}'];
    const items = inputs.map((input, at) => `{"input":${input} ,"at": ${at}}`);
    const requests = parseJobRequests(`{ "requests" : [ ${items.join(' ,\n')} ] }`);
    expect(requests.map(({ input }) => input)).toEqual(inputs);
    expect(requests.map(({ extras }) => extras)).toEqual(['{"at":0}', '{"at":1}', '{"at":2}']);
  });

  test('policy, webhook and s3Config are each request’s own', () => {
    const [first, second] = parse([
      { input: {}, policy: { lowPriority: true, ttl: 20_000 }, s3Config: { bucketName: 'b' } },
      { input: {}, webhook: 'https://a.example/x' },
    ]);
    expect(first).toMatchObject({
      isLowPriority: true,
      ttlMs: 20_000,
      secretExtras: '{"s3Config":{"bucketName":"b"}}',
    });
    expect(second).toMatchObject({ isLowPriority: false, webhook: 'https://a.example/x', secretExtras: null });
  });

  test('every failure is named by its request', () => {
    const body = JSON.stringify({
      requests: [{ input: {} }, {}, 7, { input: {}, policy: { ttl: 1 } }, { input: [], s3Config: { accessId: 1 } }],
    });
    expect(failuresOf(body, parseJobRequests)).toEqual([
      '$.requests[1].input: is required',
      '$.requests[2]: must be an object',
      '$.requests[3].policy.ttl: must be an integer from 10000 to 604800000 (milliseconds)',
      '$.requests[4].input: must be an object',
      '$.requests[4].s3Config.accessId: must be a string',
    ]);
  });

  test('at most fifty failures are told', () => {
    const failures = failuresOf(JSON.stringify({ requests: Array(900).fill({}) }), parseJobRequests);
    expect(failures).toHaveLength(51);
    expect(failures.at(-1)).toBe('and 850 more');
  });

  test.each([
    ['nothing', {}],
    ['no list', { requests: {} }],
    ['an empty one', { requests: [] }],
    ['too many', { requests: Array(BATCH_REQUESTS_MAX + 1).fill({ input: {} }) }],
  ])('%s is refused', (_, body) => {
    const [failure] = failuresOf(JSON.stringify(body), parseJobRequests);
    expect(failure).toBe('$.requests: must be a list of 1 to 1000 job requests');
  });

  test('a member that would be meant for all is refused by name', () => {
    const body = JSON.stringify({ requests: [{ input: {} }], webhook: 'https://a.example/x' });
    expect(failuresOf(body, parseJobRequests)).toEqual(['$.webhook: is unknown here; give it with each request']);
  });

  test('as many as may be', () => {
    expect(parse(Array(BATCH_REQUESTS_MAX).fill({ input: {} }))).toHaveLength(BATCH_REQUESTS_MAX);
  });
});
