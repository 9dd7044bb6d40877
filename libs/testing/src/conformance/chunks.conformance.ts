import { CHUNK_MAX_BYTES, type RawJson } from '@berth/domain';
import type { Chunk, Chunks } from '@berth/payloads';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../clock/eventually.js';
import { LONG_LIFE_MS, SHORT_LIFE_MS, type Open } from './conformance.js';
import { freshKey } from './fresh-key.js';

const chunk = (index: number, changes: Partial<Chunk> = {}): Chunk => ({
  attempt: 1,
  index,
  body: `{"output":"chunk ${index}"}` as RawJson,
  ...changes,
});

const FROM_START = { attempt: 1, fromIndex: 0, limit: 100 };

/** What streamed output relies on, of any log of chunks. */
export function chunksConformance(name: string, open: Open<Chunks>): void {
  describe(`${name} as chunks`, () => {
    test('a job without chunks reads as none', async () => {
      const { port } = await open();
      expect(await port.read({ ...freshKey(), ...FROM_START })).toEqual([]);
    });

    test('chunks are read in order of index, whatever the order of writing', async () => {
      const { port } = await open();
      const key = freshKey();
      for (const index of [2, 0, 3, 1]) await port.append(key, chunk(index), LONG_LIFE_MS);
      expect(await port.read({ ...key, ...FROM_START })).toEqual([0, 1, 2, 3].map((index) => chunk(index)));
    });

    test('reading stops before a gap and goes on once it is filled', async () => {
      const { port } = await open();
      const key = freshKey();
      for (const index of [0, 1, 3]) await port.append(key, chunk(index), LONG_LIFE_MS);
      expect(await port.read({ ...key, ...FROM_START })).toEqual([chunk(0), chunk(1)]);
      expect(await port.read({ ...key, ...FROM_START, fromIndex: 2 })).toEqual([]);
      await port.append(key, chunk(2), LONG_LIFE_MS);
      expect(await port.read({ ...key, ...FROM_START, fromIndex: 2 })).toEqual([chunk(2), chunk(3)]);
    });

    test('the first write of an index stays', async () => {
      const { port } = await open();
      const key = freshKey();
      await port.append(key, chunk(0), LONG_LIFE_MS);
      await port.append(key, chunk(0, { body: '"other"' as RawJson }), LONG_LIFE_MS);
      expect(await port.read({ ...key, ...FROM_START })).toEqual([chunk(0)]);
    });

    test('a read begins where it is told and ends at its limit', async () => {
      const { port } = await open();
      const key = freshKey();
      await Promise.all(Array.from({ length: 90 }, (_, index) => port.append(key, chunk(index), LONG_LIFE_MS)));
      const some = await port.read({ ...key, attempt: 1, fromIndex: 5, limit: 70 });
      expect(some.map(({ index }) => index)).toEqual(Array.from({ length: 70 }, (_, offset) => 5 + offset));
    });

    test('the largest chunk and odd text come back as they were', async () => {
      const { port } = await open();
      const key = freshKey();
      const largest = `"${'x'.repeat(CHUNK_MAX_BYTES - 2)}"` as RawJson;
      const odd = '{ "n":1.0E+2,"s":"\\u00e9é\u2028\ufeff" }' as RawJson;
      await port.append(key, chunk(0, { body: largest }), LONG_LIFE_MS);
      await port.append(key, chunk(1, { body: odd }), LONG_LIFE_MS);
      const read = await port.read({ ...key, ...FROM_START });
      expect(read[0]?.body.length).toBe(CHUNK_MAX_BYTES);
      expect(read[1]?.body).toBe(odd);
    });

    test('attempts are kept apart', async () => {
      const { port } = await open();
      const key = freshKey();
      await port.append(key, chunk(0), LONG_LIFE_MS);
      await port.append(key, chunk(0, { attempt: 11 }), LONG_LIFE_MS);
      expect(await port.read({ ...key, ...FROM_START })).toHaveLength(1);
      expect(await port.read({ ...key, ...FROM_START, attempt: 11 })).toHaveLength(1);
    });

    test('chunks expire by themselves', async () => {
      const { port, elapse } = await open();
      const key = freshKey();
      await port.append(key, chunk(0), SHORT_LIFE_MS);
      await elapse(SHORT_LIFE_MS);
      await eventually(async () => expect(await port.read({ ...key, ...FROM_START })).toEqual([]));
    });
  });
}
