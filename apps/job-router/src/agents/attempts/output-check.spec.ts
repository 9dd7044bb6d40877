import { createHash } from 'node:crypto';
import { BLOB_PART_BYTES, type EndpointId, type JobId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { checkOutput } from './output-check.js';

const KEY = { endpointId: 'ep' as EndpointId, jobId: 'job' as JobId, attempt: 2 };
const BYTES = Buffer.alloc(BLOB_PART_BYTES + 10, 7);
const MANIFEST = {
  name: 'out2',
  parts: 2,
  sizeBytes: BYTES.byteLength,
  sha256: createHash('sha256').update(BYTES).digest('hex'),
};
const partsOf = (bytes: Buffer) => ({
  readPart: async (_: unknown, name: string, part: number) => {
    const slice = bytes.subarray(part * BLOB_PART_BYTES, (part + 1) * BLOB_PART_BYTES);
    return name === 'out2' && slice.byteLength > 0 ? slice : null;
  },
});

describe('an uploaded output', () => {
  test('is whole when its parts are what the manifest says', async () => {
    expect(await checkOutput(partsOf(BYTES), KEY, MANIFEST)).toBeNull();
  });

  test.each([
    ['of another attempt', { name: 'out1' }, /not this attempt/],
    ['with too few parts for its size', { parts: 1 }, /does not fit/],
    ['with another hash', { sha256: 'ab' }, /hash differs/],
    ['shorter than it says', { sizeBytes: BYTES.byteLength + 1 }, /bytes came instead/],
  ])('%s is refused', async (_, change, reason) => {
    expect(await checkOutput(partsOf(BYTES), KEY, { ...MANIFEST, ...change })).toMatch(reason);
  });

  test('with a part missing is refused', async () => {
    expect(await checkOutput(partsOf(BYTES.subarray(0, 100)), KEY, MANIFEST)).toMatch(/part 1 of 2 is missing/);
  });
});
