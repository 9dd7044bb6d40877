import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { useTempFolders } from '@berth/testing/folders';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createWorkerFolder } from './worker-folder.js';

const newFolder = useTempFolders();
const MIB = 1_024 * 1_024;
/** Of four bytes each: as much as takes a while to copy. */
const NUMBERS = 16 * MIB;
const FIRST_BYTES = 2 * MIB;
const READ_BYTES = 64 * 1_024;

const LABELS = {
  hostId: 'host1' as HostId,
  workerId: 'w1' as WorkerId,
  endpointId: 'endpoint1' as EndpointId,
  release: 1,
  image: 'local/echo',
};

type Step = { readonly kind: 'print'; readonly bytes: number } | { readonly kind: 'rotate' | 'read' };

test('output is read without a loss and without a double over any rotation that it was read before, else from what is kept', async () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant('print' as const), bytes: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ kind: fc.constantFrom('rotate' as const, 'read' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.integer({ min: 1, max: 64 }), async (steps, bytesMax) => {
      const file = { containerId: 'c1', labels: LABELS, startedAtMs: 0, gpuIndexes: [] };
      const folder = await createWorkerFolder(await newFolder(), file, async () => undefined);
      let [printed, told] = ['', ''];
      const readOn = async (): Promise<number> => {
        const { bytes, start } = await folder.readOutput(told.length, bytesMax);
        // What is no longer there is skipped, and never guessed.
        told = printed.slice(0, start) + bytes.toString();
        expect(printed.startsWith(told)).toBe(true);
        return bytes.length;
      };
      for (const each of steps) {
        if (each.kind === 'print') {
          const text = Array.from({ length: each.bytes }, (_, index) => String((printed.length + index) % 10)).join('');
          await appendFile(join(folder.path, 'output.log'), text);
          printed += text;
        } else if (each.kind === 'rotate') await folder.rotateLog(20);
        else await readOn();
      }
      while ((await readOn()) > 0);
      expect(told).toBe(printed);
    }),
    { numRuns: 60 },
  );
});

test('output of before the last rotation is read rightly while the next one is under way', async () => {
  const file = { containerId: 'c1', labels: LABELS, startedAtMs: 0, gpuIndexes: [] };
  const folder = await createWorkerFolder(await newFolder(), file, async () => undefined);
  const log = join(folder.path, 'output.log');
  const printed = Buffer.from(Uint32Array.from({ length: NUMBERS }, (_, index) => index).buffer);
  await appendFile(log, printed.subarray(0, FIRST_BYTES));
  await folder.rotateLog(MIB);
  await appendFile(log, printed.subarray(FIRST_BYTES));
  let isOver = false;
  const rotation = folder.rotateLog(printed.length / 2).then(() => {
    isOver = true;
  });
  let reads = 0;
  while (!isOver) {
    const { bytes, start } = await folder.readOutput(0, READ_BYTES);
    expect(bytes.length).toBeGreaterThan(0);
    expect(bytes.equals(printed.subarray(start, start + bytes.length))).toBe(true);
    reads += 1;
  }
  await rotation;
  expect(reads).toBeGreaterThan(1);
  expect((await folder.readOutput(0, READ_BYTES)).start).toBe(FIRST_BYTES);
});

test('of more than is kept the end is kept', async () => {
  const file = { containerId: 'c1', labels: LABELS, startedAtMs: 0, gpuIndexes: [] };
  const folder = await createWorkerFolder(await newFolder(), file, async () => undefined);
  await appendFile(join(folder.path, 'output.log'), `${'x'.repeat(1_000)}last words\n`);
  await folder.rotateLog(20);
  const { bytes, start } = await folder.readOutput(0, READ_BYTES);
  expect([start, bytes.toString()]).toEqual([971, `${'x'.repeat(29)}last words\n`]);
  expect(await folder.logTail(1)).toEqual([bytes.toString().trimEnd()]);
});
