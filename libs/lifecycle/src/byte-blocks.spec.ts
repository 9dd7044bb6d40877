import { describe, expect, test } from '@jest/globals';
import { ByteBlocks } from './byte-blocks.js';

const MIB = 1_024 ** 2;

const text = (blocks: readonly Uint8Array[]): string => Buffer.concat(blocks).toString();

describe('blocks of bytes', () => {
  test('1 MiB in pieces of one byte keeps none of the pieces, and little more than 1 MiB', () => {
    const blocks = new ByteBlocks();
    const pieces = new Set<ArrayBufferLike>();
    let setAsideBytes = 0;
    for (let n = 0; n < MIB; n += 1) {
      const piece = Buffer.from(new Uint8Array([n % 251]));
      if (n < 1_000) pieces.add(piece.buffer);
      setAsideBytes += blocks.add(piece);
    }
    const kept = blocks.take();
    expect(kept.length).toBeLessThanOrEqual(24);
    expect(kept.filter(({ buffer }) => pieces.has(buffer))).toEqual([]);
    expect(kept.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)).toBe(setAsideBytes);
    expect(setAsideBytes).toBeLessThanOrEqual(MIB + 64 * 1_024);
    expect(Buffer.concat(kept).every((byte, at) => byte === at % 251)).toBe(true);
  });

  test('set aside no more than twice what came, beside a first kilobyte', () => {
    const blocks = new ByteBlocks();
    let setAsideBytes = 0;
    for (let bytes = 1; bytes <= 200_000; bytes += 1) {
      setAsideBytes += blocks.add(Buffer.from('x'));
      if (setAsideBytes > 2 * bytes + 1_024) throw new Error(`${String(setAsideBytes)} for ${String(bytes)}`);
    }
  });

  test('keep the order of small and large pieces', () => {
    const blocks = new ByteBlocks();
    const large = Buffer.from(new Uint8Array(20_000).fill(98).buffer);
    const pieces = [Buffer.from('a'), large, Buffer.from('c')];
    expect(pieces.map((piece) => blocks.add(piece))).toEqual([1_024, 20_000, 1_024]);
    expect(text(blocks.take())).toBe(`a${large.toString()}c`);
    expect(blocks.take()).toEqual([]);
  });
});
