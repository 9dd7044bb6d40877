import { ManualClock } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { SnapshotLookup } from './snapshot-lookup.js';

let clock: ManualClock;
let memory: Map<string, string>;
let bucket: Map<string, string>;
let reads: string[];
let lookup: SnapshotLookup<string>;

beforeEach(() => {
  clock = new ManualClock();
  memory = new Map();
  bucket = new Map();
  reads = [];
  const source = {
    get: (key: string) => memory.get(key),
    fetch: async (key: string) => {
      reads.push(key);
      return bucket.get(key) ?? null;
    },
  };
  lookup = new SnapshotLookup(source, clock);
});

describe('a lookup of a snapshot', () => {
  test('asks nobody for what memory has', async () => {
    memory.set('a', 'value');
    expect(await lookup.find('a')).toBe('value');
    expect(reads).toEqual([]);
  });

  test('finds what was written a moment ago', async () => {
    bucket.set('a', 'new');
    expect(await lookup.find('a')).toBe('new');
  });

  test('asks once for many who want the same at one time', async () => {
    const found = await Promise.all([lookup.find('a'), lookup.find('a'), lookup.find('a')]);
    expect([found, reads]).toEqual([[null, null, null], ['a']]);
  });

  test('believes that there is none for a second, and not longer', async () => {
    await lookup.find('a');
    bucket.set('a', 'late');
    await clock.advance(999);
    expect(await lookup.find('a')).toBeNull();
    await clock.advance(1);
    expect(await lookup.find('a')).toBe('late');
    expect(reads).toEqual(['a', 'a']);
  });

  test('sees at once what the watch brings, whatever was believed', async () => {
    await lookup.find('a');
    memory.set('a', 'told');
    expect(await lookup.find('a')).toBe('told');
  });

  test.each(['', 'a.b', '*', '>', 'a b', 'x'.repeat(129)])('never asks for %j, which can be no key', async (key) => {
    expect(await lookup.find(key)).toBeNull();
    expect(reads).toEqual([]);
  });

  test('a failure is not taken for absence', async () => {
    const failing = new SnapshotLookup<string>(
      {
        get: () => undefined,
        fetch: async (key) => {
          reads.push(key);
          throw new Error('down');
        },
      },
      clock,
    );
    await expect(failing.find('a')).rejects.toThrow('down');
    await expect(failing.find('a')).rejects.toThrow('down');
    expect(reads).toHaveLength(2);
  });
});
