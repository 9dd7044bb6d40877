import { BATCH_MAX_BYTES, type EndpointId } from '@berth/domain';
import type { LogBatch, LogEntry } from '@berth/endpoint-log';
import { describe, expect, test } from '@jest/globals';
import { headersOf } from '../../src/broker/headers.js';
import { LOG_HEADERS, batchHeaders, readLogIndex, readLogMessage } from '../../src/endpoint-log/log-batch-codec.js';

const BATCH: LogBatch = {
  endpointId: 'ep-1' as EndpointId,
  after: 6,
  batchId: 'b-1',
  index: {
    dueAtMs: 1_750_000_000_000,
    waitingNormal: 1,
    waitingLow: 0,
    oldestQueuedAtMs: null,
    running: 2,
    runningLow: 0,
    living: 3,
  },
  facts: new Uint8Array([1, 2, 3]),
};

const read = (changes: Readonly<Record<string, string>>, body = BATCH.facts): LogEntry =>
  readLogMessage({ sequence: 7, headers: headersOf({ ...batchHeaders(BATCH), ...changes }), body });

describe('a batch', () => {
  test('lies in the log as reviewed', () => {
    expect(batchHeaders(BATCH)).toEqual({
      'Berth-Format': '1',
      'Berth-Batch': 'b-1',
      'Berth-After': '6',
      'Berth-Index': '1750000000000 1 0 - 2 0 3',
    });
  });

  test('is read as it was written', () => {
    const { endpointId: _, ...written } = BATCH;
    expect(read({})).toEqual({ ...written, sequence: 7 });
    expect(readLogIndex(headersOf(batchHeaders(BATCH)))).toEqual(BATCH.index);
  });

  test.each([
    ['no headers of ours', { [LOG_HEADERS.format]: '' }, /no batch/],
    ['a later format', { [LOG_HEADERS.format]: '2' }, /of format 2, and this process reads 1/],
    ['a format that nobody should see', { [LOG_HEADERS.format]: '\u001b[31m\u202e\n2' }, /^it is of format +2, and/],
    ['a format without an end', { [LOG_HEADERS.format]: 'x'.repeat(10_000) }, /^.{200}$/],
    ['no id', { [LOG_HEADERS.batch]: '' }, /batch id/],
    ['an id of other characters', { [LOG_HEADERS.batch]: 'a b' }, /batch id/],
    ['a place behind its own', { [LOG_HEADERS.after]: '7' }, /before it/],
    ['no place', { [LOG_HEADERS.after]: '' }, /before it/],
    ['a place that is no number', { [LOG_HEADERS.after]: '6e0' }, /before it/],
    ['a place that is written otherwise', { [LOG_HEADERS.after]: '06' }, /before it/],
    ['no index', { [LOG_HEADERS.index]: '' }, /index/],
    ['an index that is short', { [LOG_HEADERS.index]: '- 1 0 - 2 0' }, /index/],
    ['an index that is long', { [LOG_HEADERS.index]: '- 1 0 - 2 0 3 4' }, /index/],
    ['a count that is none', { [LOG_HEADERS.index]: '- - 0 - 2 0 3' }, /index/],
    ['a count below zero', { [LOG_HEADERS.index]: '- -1 0 - 2 0 3' }, /index/],
    ['a count beyond all numbers', { [LOG_HEADERS.index]: '- 9999999999999999 0 - 2 0 3' }, /index/],
  ])('with %s is none, and says so', (_, changes, reason) => {
    expect(read(changes)).toEqual({ sequence: 7, unreadable: expect.stringMatching(reason) });
  });

  test('without headers, or above the bound, is none', () => {
    expect(readLogMessage({ sequence: 7, headers: undefined, body: BATCH.facts })).toHaveProperty('unreadable');
    expect(read({}, new Uint8Array(BATCH_MAX_BYTES))).not.toHaveProperty('unreadable');
    expect(read({}, new Uint8Array(BATCH_MAX_BYTES + 1))).toHaveProperty('unreadable');
  });

  test('that no reader would take for one is not written', () => {
    expect(() => batchHeaders({ ...BATCH, batchId: 'a\r\nNats-TTL: 1s' })).toThrow(RangeError);
    expect(() => batchHeaders({ ...BATCH, after: -1 })).toThrow(RangeError);
    expect(() => batchHeaders({ ...BATCH, facts: new Uint8Array(BATCH_MAX_BYTES + 1) })).toThrow(RangeError);
    expect(() => batchHeaders({ ...BATCH, index: { ...BATCH.index, dueAtMs: 1.5 } })).toThrow(RangeError);
    expect(() => batchHeaders({ ...BATCH, index: { ...BATCH.index, living: Number.NaN } })).toThrow(RangeError);
  });
});
