import { PlatformError, toRawJson } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { formatCursor, parseCursor } from './stream-cursor.js';
import { chooseRendering, renderChunk, renderStream, type StreamAsker } from './stream-rendering.js';

const CURL: StreamAsker = {
  format: undefined,
  method: 'GET',
  contentType: undefined,
  userAgent: 'curl/8',
  hasBody: false,
};

describe('the rendering of a stream', () => {
  test.each([
    ['array', {}],
    ['object', { method: 'POST' }],
    ['object', { contentType: 'application/json' }],
    ['object', { contentType: 'application/json; charset=utf-8' }],
    ['array', { contentType: 'application/json', hasBody: true }],
    ['array', { contentType: 'text/plain' }],
    ['object', { userAgent: 'RunPod-JS-SDK/1.1.2 (node)' }],
    ['array', { format: 'array', method: 'POST' }],
    ['object', { format: 'object' }],
    ['array', { format: '' }],
  ] as const)('is %s for %j', (rendering, asker) => {
    expect(chooseRendering({ ...CURL, ...asker }, 'array')).toBe(rendering);
  });

  test('is what the operator chose where nothing tells the caller apart', () => {
    expect(chooseRendering(CURL, 'object')).toBe('object');
  });

  test.each(['xml', 'ARRAY', ['array']])('%j is refused', (format) => {
    expect(() => chooseRendering({ ...CURL, format }, 'array')).toThrow(PlatformError);
  });
});

describe('a chunk', () => {
  test.each([
    ['{"output":"a"}', '{"output":"a","metrics":{}}'],
    ['{"output":null}', '{"output":null,"metrics":{}}'],
    ['{ "metrics": {"n":1.0}, "output": [1, 2] }', '{"output":[1, 2],"metrics":{"n":1.0}}'],
    ['{"output":"x","part":{"index":0,"count":2}}', '{"output":"x","metrics":{},"part":{"index":0,"count":2}}'],
    ['{"other":1}', '{"output":{"other":1},"metrics":{}}'],
    ['"text"', '{"output":"text","metrics":{}}'],
    ['[1]', '{"output":[1],"metrics":{}}'],
    ['{}', '{"output":{},"metrics":{}}'],
  ])('%s is shown as %s', (body, shown) => {
    expect(renderChunk(toRawJson(body))).toBe(shown);
  });
});

describe('a whole answer', () => {
  const answer = { status: 'FAILED', error: 'boom', chunks: [toRawJson('{"output":1}')] } as const;

  test('as array and as object', () => {
    expect(renderStream(answer, 'array')).toBe('[{"output":1,"metrics":{}}]');
    expect(renderStream(answer, 'object')).toBe(
      '{"status":"FAILED","stream":[{"output":1,"metrics":{}}],"error":"boom"}',
    );
  });

  test('an object always has its stream', () => {
    expect(renderStream({ status: 'IN_QUEUE', error: null, chunks: [] }, 'object')).toBe(
      '{"status":"IN_QUEUE","stream":[]}',
    );
  });
});

describe('a cursor', () => {
  test('comes back as it went', () => {
    expect(parseCursor(formatCursor({ attempt: 3, index: 70_000 }))).toEqual({ attempt: 3, index: 70_000 });
  });

  test.each(['', 'a1', '1-2', 'a-1-2', 'a1-x', ['a1-2'], undefined, 'a1-99999999999'])('%j is refused', (text) => {
    expect(() => parseCursor(text)).toThrow(PlatformError);
  });
});
