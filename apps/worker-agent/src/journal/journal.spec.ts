import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemRandom } from '@berth/lifecycle';
import { JournalFullError } from './journal-error.js';
import { Journal, type JournalOptions } from './journal.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-journal-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const openIt = (options: Partial<JournalOptions> = {}): Promise<Journal> =>
  Journal.open({ folder, random: systemRandom, ...options });

test('worker records live under their own prefix and come back after a restart', async () => {
  const journal = await openIt();
  await journal.put([{ key: 'attempt/one', value: 1 }]);
  await journal.workers.put('w1', { token: 'secret' });
  await journal.workers.put('w2', { token: 'other' });
  await journal.workers.remove('w2');
  await journal.workers.remove('never-there');
  await journal.close();
  const reopened = await openIt();
  expect([...reopened.workers.list()]).toEqual([['w1', { token: 'secret' }]]);
  await reopened.close();
});

test('a record above the budget is refused, what was there stays, and room comes back with removals', async () => {
  const journal = await openIt({ logBytesMax: 2_000 });
  await journal.put([{ key: 'a', value: 'x'.repeat(1_700) }]);
  expect(journal.hasRoom).toBe(false);
  await expect(journal.put([{ key: 'b', value: 'x'.repeat(300) }])).rejects.toThrow(JournalFullError);
  expect(journal.list('').map(({ key }) => key)).toEqual(['a']);
  await journal.remove(['a']);
  expect(journal.hasRoom).toBe(true);
  await journal.put([{ key: 'b', value: 'x'.repeat(300) }]);
  await journal.close();
});

test('large bodies have their own budget and leave no file behind when they go', async () => {
  const journal = await openIt({ fileBytesMax: 200_000 });
  const body = 'y'.repeat(120_000);
  await journal.put([{ key: 'a', value: null, body }]);
  await expect(journal.put([{ key: 'b', value: null, body }])).rejects.toThrow(JournalFullError);
  expect((await journal.readBody('a', 119_990, 50))?.toString()).toBe('y'.repeat(10));
  await journal.put([{ key: 'a', value: null, body: 'short now' }]);
  expect((await readdir(folder)).filter((name) => name.startsWith('body-'))).toEqual([]);
  expect((await journal.readBody('a', 0, 100))?.toString()).toBe('short now');
  await journal.close();
});

test('a body file whose commit never came is removed at the start; a foreign file is left alone', async () => {
  await writeFile(join(folder, 'body-orphan.bin'), 'left by a crash');
  await writeFile(join(folder, 'notes.txt'), 'not ours');
  const journal = await openIt();
  expect((await readdir(folder)).sort()).toEqual(['notes.txt']);
  await journal.close();
});

test('a disk that refuses is a clear error, and writing goes on once it accepts again', async () => {
  const journal = await openIt();
  await rm(folder, { recursive: true });
  await expect(journal.put([{ key: 'a', value: 1 }])).rejects.toThrow(JournalFullError);
  await expect(journal.put([{ key: 'a', value: 1, body: 'z'.repeat(70_000) }])).rejects.toThrow(JournalFullError);
  await rm(folder, { recursive: true, force: true });
  folder = await mkdtemp(folder);
  const again = await openIt();
  await again.put([{ key: 'a', value: 1 }]);
  expect(again.list('')).toEqual([{ key: 'a', value: 1 }]);
  await again.close();
  await journal.close();
});

test('the disk holds a bounded multiple of what is live, however much went through', async () => {
  const journal = await openIt({ segmentMaxBytes: 10_000 });
  await journal.put([{ key: 'kept', value: 'from the first second' }]);
  for (let round = 0; round < 200; round += 1) {
    await journal.put([{ key: `job${round}`, value: 'r'.repeat(500) }]);
    await journal.remove([`job${round}`]);
  }
  await journal.close();
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(50_000);
  const reopened = await openIt();
  expect(reopened.list('')).toEqual([{ key: 'kept', value: 'from the first second' }]);
  await reopened.close();
});

test('many commits at once share their syncs', async () => {
  const journal = await openIt();
  await Promise.all(Array.from({ length: 500 }, (_, order) => journal.put([{ key: `k${order}`, value: order }])));
  expect(journal.list('k')).toHaveLength(500);
  await journal.close();
});
