import { PlatformError } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { isOpenAiUrl, readOpenAiRequest } from './openai-request.js';

const URL = '/v2/ep/openai/v1/chat/completions';

describe('a request becomes an input', () => {
  test('with the body as it came', () => {
    const body = '{ "model":"m", "seed": 12345678901234567890, "stream" : true }';
    expect(readOpenAiRequest('POST', URL, body)).toEqual({
      input: `{"openai_route":"/v1/chat/completions","openai_input":${body}}`,
      isStreamed: true,
    });
  });

  test.each([
    ['{"stream":false}', false],
    ['{"stream":"true"}', false],
    ['{"messages":[{"stream":true}]}', false],
    ['{"stream":false,"stream":true}', true],
  ])('%s streamed: %j', (body, isStreamed) => {
    expect(readOpenAiRequest('POST', URL, body).isStreamed).toBe(isStreamed);
  });

  test('a GET has no openai_input, and keeps its query', () => {
    expect(readOpenAiRequest('GET', '/v2/ep/openai/v1/models?limit=2', '').input).toBe(
      '{"openai_route":"/v1/models?limit=2"}',
    );
    expect(readOpenAiRequest('GET', '/v2/openai/openai/v1/models', '').input).toBe('{"openai_route":"/v1/models"}');
  });

  test('an empty post is an empty object', () => {
    expect(readOpenAiRequest('POST', '/v2/ep/openai/v1/x', ' ').input).toBe(
      '{"openai_route":"/v1/x","openai_input":{}}',
    );
  });

  test.each([
    ['{"a":', 'body-not-json'],
    ['[]', 'invalid-job-request'],
    ['null', 'invalid-job-request'],
  ])('%s is refused', (body, code) => {
    expect(() => readOpenAiRequest('POST', URL, body)).toThrow(PlatformError);
    expect(() => readOpenAiRequest('POST', URL, body)).toThrow(expect.objectContaining({ code }));
  });
});

test.each([
  ['/v2/ep/openai/v1/models', true],
  ['/v2/ep/openai', true],
  ['/v2/ep/openai?x', true],
  ['/v2/ep/openais', false],
  ['/v2/openai/run', false],
  ['/v2/ep/run?x=/openai/', false],
])('%s is an address of the clients: %j', (url, expected) => {
  expect(isOpenAiUrl(url)).toBe(expected);
});
