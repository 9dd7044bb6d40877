import type { ReaderCursors, ReaderKey } from '@berth/payloads';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../clock/eventually.js';
import type { Open } from './conformance.js';
import { freshKey } from './fresh-key.js';

const readerKey = (): ReaderKey => ({ ...freshKey(), keyId: 'key-1' });
const FIRST = { attempt: 1, index: 2 };
const SECOND = { attempt: 1, index: 5 };

/**
 * What readers without a cursor of their own rely on, of any store of cursors.
 *
 * @param lifeMs how long the opened store keeps a cursor
 */
export function readerCursorsConformance(name: string, open: Open<ReaderCursors>, lifeMs: number): void {
  describe(`${name} as reader cursors`, () => {
    test('a reader that never read has none', async () => {
      const { port } = await open();
      expect(await port.read(readerKey())).toBeNull();
    });

    test('a cursor is read as it was written, by its reader only', async () => {
      const { port } = await open();
      const reader = readerKey();
      const sequence = await port.write(reader, FIRST, 0);
      expect(await port.read(reader)).toEqual({ cursor: FIRST, sequence });
      expect(await port.read({ ...reader, keyId: 'key-2' })).toBeNull();
    });

    test('a cursor is replaced over exactly its version', async () => {
      const { port } = await open();
      const reader = readerKey();
      const first = await port.write(reader, FIRST, 0);
      expect(await port.write(reader, SECOND, 0)).toBeNull();
      const second = await port.write(reader, SECOND, first!);
      expect(second).toBeGreaterThan(first!);
      expect(await port.write(reader, FIRST, first!)).toBeNull();
      expect(await port.read(reader)).toEqual({ cursor: SECOND, sequence: second });
    });

    test('of writers side by side over one version, one succeeds', async () => {
      const { port } = await open();
      const reader = readerKey();
      const indices = [1, 2, 3, 4, 5, 6];
      const outcomes = await Promise.all(indices.map((index) => port.write(reader, { attempt: 1, index }, 0)));
      expect(outcomes.filter((outcome) => outcome !== null)).toHaveLength(1);
    });

    test('a cursor is forgotten after its life, and written anew over nothing', async () => {
      const { port, elapse } = await open();
      const reader = readerKey();
      await port.write(reader, FIRST, 0);
      await elapse(lifeMs);
      await eventually(async () => expect(await port.read(reader)).toBeNull());
      expect(await port.write(reader, SECOND, 0)).toEqual(expect.any(Number));
    });
  });
}
