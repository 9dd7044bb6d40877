import { describe, expect, test } from '@jest/globals';
import { readHistoryRead, type HistoryReadMessage } from './history-read.js';

const MESSAGE: HistoryReadMessage = {
  shards: [
    { shard: 0, streamCreated: '2026-11-22T10:00:00.123456789Z', sequence: 7 },
    { shard: 15, streamCreated: '2026-11-22T10:00:01Z', sequence: 0 },
  ],
};

describe('how far the job history has read', () => {
  test('comes as it was told, with what a later version adds', () => {
    const told = { ...MESSAGE, more: true };
    expect(readHistoryRead(JSON.stringify(told))).toEqual({ kind: 'value', value: told });
    expect(readHistoryRead('{"shards":[]}').kind).toBe('value');
  });

  test.each([
    ['', 'it is no JSON'],
    ['null', '$ must be an object'],
    ['{}', '$.shards must be a list'],
    [
      '{"shards":[{"shard":-1,"streamCreated":"x","sequence":1}]}',
      '$.shards[0].shard must be a whole number from 0 on',
    ],
    ['{"shards":[{"shard":1,"streamCreated":5,"sequence":1}]}', '$.shards[0].streamCreated'],
    [
      '{"shards":[{"shard":1,"streamCreated":"x","sequence":1.5}]}',
      '$.shards[0].sequence must be a whole number from 0 on',
    ],
    [
      '{"shards":[{"shard":1,"streamCreated":"x","sequence":"1"}]}',
      '$.shards[0].sequence must be a whole number from 0 on',
    ],
  ])('is not told by %s', (body, reason) => {
    expect(readHistoryRead(body)).toEqual({ kind: 'unreadable', reason: expect.stringContaining(reason) });
  });
});
