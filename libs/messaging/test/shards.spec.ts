import type { EndpointId, JobId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { JOB_SHARDS, endpointShard, jobShard, stableHash } from '../src/topology/shards.js';

describe('the hash that decides where stored data lie', () => {
  // These values may never change: data written under them would no longer be found.
  test.each([
    ['', 7385],
    ['a', 52512],
    ['endpoint-1', 54444],
    ['0b1f6a0e-3c55-4d3e-9a0e-0c6a8a4b1d11', 18729],
    ['sync-0b1f6a0e-3c55-4d3e-9a0e-0c6a8a4b1d11', 26021],
  ])('%j', (text, hash) => {
    expect(stableHash(text)).toBe(hash);
  });

  test('spreads sequential ids evenly', () => {
    const counts = new Array<number>(JOB_SHARDS).fill(0);
    for (let at = 0; at < 16_000; at += 1) counts[jobShard(`job-${at}` as JobId)]! += 1;
    for (const count of counts) expect(count).toBeGreaterThan(800);
    for (const count of counts) expect(count).toBeLessThan(1_200);
  });

  test('endpoints lie in one of four', () => {
    const shards = new Set(Array.from({ length: 100 }, (_, at) => endpointShard(`ep-${at}` as EndpointId)));
    expect([...shards].sort()).toEqual([0, 1, 2, 3]);
  });
});
