import { toRawJson } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { readEvents } from '../../test/bench/read-events.js';
import { renderEvents } from './event-rendering.js';
import { PING } from '@berth/http';
import type { StreamBatch } from './job-stream.js';

const batch = (changes: Partial<StreamBatch>): StreamBatch => ({
  status: 'IN_PROGRESS',
  error: null,
  chunks: [],
  next: { attempt: 1, index: 0 },
  hasMore: false,
  ...changes,
});
const seen = (...rendering: Parameters<typeof renderEvents>) => readEvents([Buffer.from(renderEvents(...rendering))]);

describe('a batch as events', () => {
  test('each chunk has the cursor behind it as its id', () => {
    const chunks = [toRawJson('{"output":1}'), toRawJson('{\n"output":2}')];
    expect(seen(batch({ chunks, next: { attempt: 1, index: 7 } }), { attempt: 1, index: 5 })).toEqual([
      { event: 'message', id: 'a1-6', data: '{"output":1,"metrics":{}}' },
      { event: 'message', id: 'a1-7', data: '{"output":2,"metrics":{}}' },
    ]);
  });

  test('another attempt is told before its first chunk, to readers that know a former one only', () => {
    const news = batch({ chunks: [toRawJson('1')], next: { attempt: 2, index: 1 } });
    expect(seen(news, { attempt: 1, index: 5 }).map(({ event, id }) => `${event} ${id}`)).toEqual([
      'attempt a2-0',
      'message a2-1',
    ]);
    expect(seen(news, { attempt: 0, index: 0 }).map(({ event }) => event)).toEqual(['message']);
  });

  test('the end comes last, with its own id and the error where there is one', () => {
    const end = batch({ status: 'FAILED', error: 'boom', chunks: [toRawJson('1')], next: { attempt: 1, index: 1 } });
    expect(seen(end, { attempt: 1, index: 0 }).at(-1)).toEqual({
      event: 'status',
      id: 'a1-1-end',
      data: '{"status":"FAILED","error":"boom"}',
    });
  });

  test('nothing is a ping', () => {
    expect(renderEvents(batch({}), { attempt: 1, index: 0 })).toBe(PING);
  });
});
