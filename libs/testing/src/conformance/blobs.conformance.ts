import { createHash, randomBytes } from 'node:crypto';
import { BLOB_PART_BYTES, type BlobManifest } from '@berth/domain';
import type { Blobs } from '@berth/payloads';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../clock/eventually.js';
import { LONG_LIFE_MS, SHORT_LIFE_MS, type Open } from './conformance.js';
import { freshKey } from './fresh-key.js';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** What large payloads rely on, of any store of blobs. */
export function blobsConformance(name: string, open: Open<Blobs>): void {
  describe(`${name} as blobs`, () => {
    test.each([
      ['nothing', 0],
      ['one byte', 1],
      ['exactly one part', BLOB_PART_BYTES],
      ['one byte more than a part', BLOB_PART_BYTES + 1],
      ['many parts', 7 * BLOB_PART_BYTES + 12_345],
    ])('%s comes back whole', async (_what, size) => {
      const { port } = await open();
      const key = freshKey();
      const bytes = randomBytes(size);
      const manifest = await port.write(key, { name: 'in', bytes }, LONG_LIFE_MS);
      expect(manifest).toEqual({
        name: 'in',
        parts: Math.max(1, Math.ceil(size / BLOB_PART_BYTES)),
        sizeBytes: size,
        sha256: sha256(bytes),
      });
      const read = await port.read(key, manifest);
      expect(read === null ? null : sha256(read)).toBe(manifest.sha256);
    });

    test('parts are read one by one, and one that is not there is none', async () => {
      const { port } = await open();
      const key = freshKey();
      const bytes = randomBytes(BLOB_PART_BYTES + 10);
      await port.write(key, { name: 'in', bytes }, LONG_LIFE_MS);
      expect(sha256((await port.readPart(key, 'in', 0))!)).toBe(sha256(bytes.subarray(0, BLOB_PART_BYTES)));
      expect(sha256((await port.readPart(key, 'in', 1))!)).toBe(sha256(bytes.subarray(BLOB_PART_BYTES)));
      expect(await port.readPart(key, 'in', 2)).toBeNull();
      expect(await port.readPart(key, 'out-1', 0)).toBeNull();
    });

    test('a blob that came piecewise, repeated and out of order, reads as one', async () => {
      const { port } = await open();
      const key = freshKey();
      const bytes = randomBytes(2 * BLOB_PART_BYTES + 5);
      const part = (index: number): { name: string; index: number; bytes: Uint8Array } => ({
        name: 'out-1',
        index,
        bytes: bytes.subarray(index * BLOB_PART_BYTES, (index + 1) * BLOB_PART_BYTES),
      });
      for (const index of [2, 0, 1, 0, 2]) await port.writePart(key, part(index), LONG_LIFE_MS);
      const read = await port.read(key, manifestOf('out-1', bytes));
      expect(sha256(read!)).toBe(sha256(bytes));
    });

    test('a blob of which a part is missing is none', async () => {
      const { port } = await open();
      const key = freshKey();
      const bytes = randomBytes(2 * BLOB_PART_BYTES);
      await port.writePart(key, { name: 'in', index: 1, bytes: bytes.subarray(BLOB_PART_BYTES) }, LONG_LIFE_MS);
      expect(await port.read(key, manifestOf('in', bytes))).toBeNull();
    });

    test('a blob that is not what its manifest says is refused', async () => {
      const { port } = await open();
      const key = freshKey();
      const manifest = await port.write(key, { name: 'in', bytes: randomBytes(10) }, LONG_LIFE_MS);
      await expect(port.read(key, { ...manifest, sha256: sha256(randomBytes(10)) })).rejects.toMatchObject({
        code: 'internal-error',
      });
    });

    test('one blob of a job is removed without the others, and absent is success', async () => {
      const { port } = await open();
      const key = freshKey();
      const [input, first, tenth] = await Promise.all([
        port.write(key, { name: 'in', bytes: randomBytes(10) }, LONG_LIFE_MS),
        port.write(key, { name: 'out1', bytes: randomBytes(BLOB_PART_BYTES + 1) }, LONG_LIFE_MS),
        port.write(key, { name: 'out10', bytes: randomBytes(10) }, LONG_LIFE_MS),
      ]);
      await port.remove(key, 'out1');
      await port.remove(key, 'out1');
      expect(await port.read(key, first)).toBeNull();
      expect(await port.read(key, input)).not.toBeNull();
      expect(await port.read(key, tenth)).not.toBeNull();
    });

    test('a blob expires by itself', async () => {
      const { port, elapse } = await open();
      const key = freshKey();
      const manifest = await port.write(key, { name: 'in', bytes: randomBytes(10) }, SHORT_LIFE_MS);
      await elapse(SHORT_LIFE_MS);
      await eventually(async () => expect(await port.read(key, manifest)).toBeNull());
    });
  });
}

const manifestOf = (name: string, bytes: Uint8Array): BlobManifest => ({
  name,
  parts: Math.ceil(bytes.byteLength / BLOB_PART_BYTES),
  sizeBytes: bytes.byteLength,
  sha256: sha256(bytes),
});
