import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { systemRandom } from '@berth/lifecycle';
import { Journal } from './journal.js';

/** Hundreds of synced writes, on a disk that may be busy. */
const SLOW_DISK_MS = 240_000;

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'berth-journal-'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const openAt = (folder: string, segmentMaxBytes = 1 << 20): Promise<Journal> =>
  Journal.open({ folder, random: systemRandom, segmentMaxBytes });

const contentOf = (journal: Journal): Record<string, unknown> =>
  Object.fromEntries(journal.list('').map(({ key, value }) => [key, value]));

/** The newest segment of a folder: the only file a crash can leave half written. */
async function newestSegment(folder: string): Promise<string> {
  const name = (await readdir(folder))
    .filter((each) => each.endsWith('.log'))
    .sort()
    .at(-1);
  if (name === undefined) throw new Error('no segment');
  return join(folder, name);
}

describe('a crash in the middle of a write', () => {
  test(
    'loses no acknowledged record and shows no half one, wherever the file is cut',
    async () => {
      const folder = join(root, 'live');
      const journal = await openAt(folder);
      const states: { bytes: number; content: Record<string, unknown> }[] = [{ bytes: 0, content: {} }];
      for (let step = 0; step < 9; step += 1) {
        if (step % 4 === 3) await journal.remove([`key${step - 1}`, `key${step - 2}`]);
        else
          await journal.put([
            { key: `key${step}`, value: { step } },
            { key: 'latest', value: step, body: 'é"\n' },
          ]);
        const bytes = (await readFile(await newestSegment(folder))).byteLength;
        states.push({ bytes, content: contentOf(journal) });
      }
      await journal.close();
      const segment = await readFile(await newestSegment(folder));
      for (let cut = 0; cut <= segment.byteLength; cut += 1) {
        const copy = join(root, 'cut');
        await cp(folder, copy, { recursive: true });
        await writeFile(await newestSegment(copy), segment.subarray(0, cut));
        const reopened = await openAt(copy);
        const expected = states.findLast(({ bytes }) => bytes <= cut)?.content;
        expect({ cut, content: contentOf(reopened) }).toEqual({ cut, content: expected });
        if (cut % 16 === 0) await reopened.put([{ key: 'after', value: cut }]);
        await reopened.close();
        const again = await openAt(copy);
        expect(contentOf(again)).toEqual(cut % 16 === 0 ? { ...expected, after: cut } : expected);
        await again.close();
        await rm(copy, { recursive: true });
      }
    },
    SLOW_DISK_MS,
  );

  test(
    'flipping any one bit costs at most the commits from there on',
    async () => {
      const folder = join(root, 'live');
      const journal = await openAt(folder);
      for (let step = 0; step < 5; step += 1) await journal.put([{ key: `key${step}`, value: 'x'.repeat(step) }]);
      await journal.close();
      const path = await newestSegment(folder);
      const segment = await readFile(path);
      await fc.assert(
        fc.asyncProperty(fc.nat(segment.byteLength * 8 - 1), async (bit) => {
          const damaged = Buffer.from(segment);
          damaged.writeUInt8(damaged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
          const copy = await mkdtemp(join(root, 'bit-'));
          await writeFile(join(copy, 'journal-00000001.log'), damaged);
          const reopened = await openAt(copy);
          const keys = reopened.list('').map(({ key }) => key);
          expect(keys).toEqual(['key0', 'key1', 'key2', 'key3', 'key4'].slice(0, keys.length));
          await reopened.close();
        }),
        { numRuns: 60 },
      );
    },
    SLOW_DISK_MS,
  );
});

const operation = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    key: fc.integer({ min: 0, max: 5 }).map((key) => `k${key}`),
    value: fc.string({ maxLength: 40 }),
    // Above the inline limit, so a side file.
    isLarge: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('remove' as const), key: fc.integer({ min: 0, max: 5 }).map((key) => `k${key}`) }),
  fc.record({ kind: fc.constant('crash' as const) }),
);

const LARGE_BODY = 'b'.repeat(70_000);

describe('any sequence of puts, removals and crashes', () => {
  test(
    'leaves what a map would hold, through rotation and compaction, with every body readable',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 60 }), async (operations) => {
          let folder = await mkdtemp(join(root, 'run-'));
          let journal = await openAt(folder, 300);
          const model = new Map<string, { value: string; isLarge: boolean }>();
          for (const step of operations) {
            if (step.kind === 'put') {
              const { key, value, isLarge } = step;
              await journal.put([{ key, value, body: isLarge ? LARGE_BODY + value : value }]);
              model.set(key, { value, isLarge });
            } else if (step.kind === 'remove') {
              await journal.remove([step.key]);
              model.delete(step.key);
            } else {
              // What the disk holds at this instant is what a killed process leaves.
              const copy = await mkdtemp(join(root, 'crash-'));
              await cp(folder, copy, { recursive: true });
              await journal.close();
              folder = copy;
              journal = await openAt(folder, 300);
            }
          }
          expect(contentOf(journal)).toEqual(Object.fromEntries([...model].map(([key, { value }]) => [key, value])));
          for (const [key, { value, isLarge }] of model) {
            const body = await journal.readBody(key, 0, 1 << 20);
            expect(body?.toString('utf8')).toBe(isLarge ? LARGE_BODY + value : value);
          }
          await journal.close();
        }),
        { numRuns: 25 },
      );
    },
    SLOW_DISK_MS,
  );

  test(
    'concurrent writers of different keys all keep their last word',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(9), { minLength: 20, maxLength: 80 }), async (keys) => {
          const folder = await mkdtemp(join(root, 'many-'));
          const journal = await openAt(folder, 400);
          await Promise.all(
            keys.map((key, order) =>
              order % 5 === 4 ? journal.remove([`k${key}`]) : journal.put([{ key: `k${key}`, value: order }]),
            ),
          );
          const before = contentOf(journal);
          const expected: Record<string, number> = {};
          keys.forEach((key, order) => {
            if (order % 5 === 4) delete expected[`k${key}`];
            else expected[`k${key}`] = order;
          });
          expect(before).toEqual(expected);
          await journal.close();
          const reopened = await openAt(folder);
          expect(contentOf(reopened)).toEqual(expected);
          await reopened.close();
        }),
        { numRuns: 25 },
      );
    },
    SLOW_DISK_MS,
  );
});
