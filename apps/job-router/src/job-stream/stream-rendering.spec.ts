import { PlatformError, toRawJson } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { formatCursor, formatEndCursor, givenCursor } from './stream-cursor.js';
import { chooseRendering, renderChunk, renderStream, shownStatus, type StreamAsker } from './stream-rendering.js';

const CURL: StreamAsker = {
  format: undefined,
  method: 'GET',
  accept: '*/*',
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
    ['events', { accept: 'text/event-stream' }],
    ['events', { accept: 'application/json;q=0.5, Text/Event-Stream;q=1' }],
    ['events', { accept: 'text/event-stream', method: 'POST', contentType: 'application/json' }],
    ['array', { accept: 'text/event-stream-like' }],
    ['object', { accept: 'text/event-stream', format: 'object' }],
    ['events', { format: 'sse' }],
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

describe('the status of a cancelled job', () => {
  test.each([
    ['FAILED', { userAgent: 'python-requests/2.32.3' }],
    ['FAILED', { userAgent: 'Python/3.11 aiohttp/3.9.1' }],
    ['CANCELLED', { userAgent: 'RunPod-JS-SDK/1.1.2 (node)' }],
    ['CANCELLED', { userAgent: 'Go-http-client/1.1' }],
    ['CANCELLED', { userAgent: 'python-requests/2.32.3', format: 'object' }],
  ] as const)('is shown as %s to %j', (shown, asker) => {
    expect(shownStatus('CANCELLED', { ...CURL, ...asker })).toBe(shown);
  });

  test('no other status is changed', () => {
    expect(shownStatus('COMPLETED', { ...CURL, userAgent: 'python-requests/2' })).toBe('COMPLETED');
  });
});

describe('a cursor', () => {
  const cursor = { attempt: 3, index: 70_000 };

  test('comes back as it went, by query or header', () => {
    expect(givenCursor(formatCursor(cursor), undefined)).toEqual({ ...cursor, isEnd: false });
    expect(givenCursor(undefined, formatEndCursor(cursor))).toEqual({ ...cursor, isEnd: true });
    expect(givenCursor(undefined, '')).toBeNull();
  });

  test('of the header counts: a browser connects again with the address that it began with', () => {
    expect(givenCursor('a1-0', 'a1-7')).toMatchObject({ index: 7 });
  });

  test.each(['', 'a1', '1-2', 'a-1-2', 'a1-x', ['a1-2'], 'a1-99999999999', 'a1-2-END'])('%j is refused', (text) => {
    expect(() => givenCursor(text, undefined)).toThrow(expect.objectContaining({ code: 'invalid-query' }));
    if (text !== '') {
      expect(() => givenCursor(undefined, text)).toThrow(expect.objectContaining({ code: 'invalid-header' }));
    }
  });
});
