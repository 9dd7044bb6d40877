import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogLine } from '@berth/domain';
import { useTempFolders } from '@berth/testing/folders';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { NewLine } from './spool-format.js';
import { WorkerSpool } from './worker-spool.js';

const newFolder = useTempFolders();
const OWNER = { workerId: 'w1', endpointId: 'e1', accountId: 'a1' };
const EVERYTHING = Number.MAX_SAFE_INTEGER;

interface Append {
  readonly kind: 'append';
  readonly lines: readonly { readonly text: string; readonly isSystem: boolean }[];
}

type Step =
  | Append
  /** The agent is killed: in the middle of a write, of which so many bytes were done. */
  | { readonly kind: 'crash'; readonly torn: number }
  | { readonly kind: 'drop' };

/** Long ones, so that segments change. */
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.constant('x'.repeat(90_000)));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      lines: fc.array(fc.record({ text, isSystem: fc.boolean() }), { maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const), torn: fc.integer({ min: 0, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const) }) },
);

async function tear(folder: string, bytes: number): Promise<void> {
  const segments = (await readdir(folder)).filter((name) => name.endsWith('.log')).toSorted();
  const last = segments.at(-1) ?? '000000000000001.log';
  await appendFile(join(folder, last), '[1,"c","half of a line","and of a job'.slice(0, bytes));
}

describe('a spool', () => {
  test('gives back every line that was kept, once and in its order, over any crash, and knows what it has let go', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), fc.integer({ min: 1, max: 200_000 }), async (steps, room) => {
        const folder = join(await newFolder(), 'w1');
        let spool = await WorkerSpool.open(folder, OWNER);
        const kept: LogLine[] = [];
        let [oldest, position] = [1, null as string | null];
        for (const each of steps) {
          if (each.kind === 'append') {
            const lines = each.lines.map(({ isSystem, text: line }, index): NewLine => ({
              atMs: kept.length,
              source: isSystem ? 'system' : 'container',
              line,
              ...(index % 2 === 0 ? {} : { jobId: 'j1' }),
            }));
            position = String(kept.length);
            kept.push(...lines.map((line, index) => ({ ...line, sequence: kept.length + index + 1 })));
            await spool.append(lines, { position }, kept.length);
          } else if (each.kind === 'crash') {
            await tear(folder, each.torn);
            const found = await WorkerSpool.find(folder);
            expect(found).not.toBeNull();
            if (found !== null) spool = found;
          } else if (spool.segments.length > 1) {
            await spool.drop(spool.segments[0]?.firstSequence ?? 0);
            oldest = spool.segments[0]?.firstSequence ?? 0;
          }
        }
        expect([spool.position, spool.last]).toEqual([position, kept.length]);
        const told: LogLine[] = [];
        for (let after = 0; ;) {
          const { lines, missing, next } = await spool.read(after, {}, room);
          expect(missing).toBe(after === 0 ? oldest - 1 : 0);
          if (lines.length === 0) break;
          told.push(...lines);
          after = next;
        }
        expect(told).toEqual(kept.slice(oldest - 1));
        const ofJob = await spool.read(0, { jobId: 'j1' }, EVERYTHING);
        expect(ofJob.lines).toEqual(kept.slice(oldest - 1).filter(({ jobId }) => jobId === 'j1'));
        const tail = await spool.read(
          await spool.seek({ tail: 3, source: 'system' }),
          { source: 'system' },
          EVERYTHING,
        );
        expect(tail.lines).toEqual(
          kept
            .slice(oldest - 1)
            .filter(({ source }) => source === 'system')
            .slice(-3),
        );
      }),
      { numRuns: 60 },
    );
  });
});
