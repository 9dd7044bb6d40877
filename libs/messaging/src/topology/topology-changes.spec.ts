import { expect, test } from '@jest/globals';
import { streamConfigs } from './streams.js';
import { topologyLog, type TopologyChanges } from './topology-changes.js';

function linesOf(changes: TopologyChanges): string[] {
  const lines: string[] = [];
  topologyLog({ info: (line) => lines.push(line) })(changes);
  return lines;
}

const SIZE = { replicas: 1, storageBytes: 1024 ** 3, memoryBytes: 1024 ** 2 } as const;

test('a first start is one sentence, whatever the number of streams', () => {
  const created = streamConfigs('jobs', SIZE).map(({ name }) => name);
  const lines = linesOf({ created, updated: [] });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^made \d+ streams \(\d+ LOG, \d+ CURSOR, \d+ OUT, \d+ BLOB, 1 KV\)$/);
  expect(lines[0]).toContain(`made ${created.length} streams`);
});

test('streams that were changed are named', () => {
  expect(linesOf({ created: ['KV_shards'], updated: ['LOG_1', 'LOG_2'] })).toEqual([
    'made 1 stream (1 KV); changed LOG_1, LOG_2',
  ]);
  expect(linesOf({ created: [], updated: ['LOG_1'] })).toEqual(['changed LOG_1']);
});
