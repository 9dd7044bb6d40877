import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { useTempFolders } from '@berth/testing';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createWorkerFolder } from './worker-folder.js';

const newFolder = useTempFolders();

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
