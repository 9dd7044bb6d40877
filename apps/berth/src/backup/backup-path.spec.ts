import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useTempFolders } from '@berth/testing/folders';
import { expect, test } from '@jest/globals';
import { EXIT_STATUS } from '../program/index.js';
import { backupPathOf } from './backup-path.js';

const tempFolder = useTempFolders();
const AT_MS = Date.parse('2026-11-26T02:00:00.123Z');

test('in a folder the file is named for the time', async () => {
  const home = await tempFolder();
  expect(await backupPathOf(home, AT_MS)).toBe(join(home, 'berth-20261126T020000Z.tar.gz'));
});

test('a file keeps its name, whether it is there or not', async () => {
  const home = await tempFolder();
  const path = join(home, 'mine.tar.gz');
  expect(await backupPathOf(path, AT_MS)).toBe(path);
  await writeFile(join(home, 'other'), '');
  expect(await backupPathOf(join(home, 'other'), AT_MS)).toBe(join(home, 'other'));
});

test('what is not there and is not called an archive is refused, as a folder that was forgotten', async () => {
  const home = await tempFolder();
  await expect(backupPathOf(join(home, 'backups'), AT_MS)).rejects.toMatchObject({
    status: EXIT_STATUS.misused,
    message: expect.stringContaining('is not there'),
    mend: expect.stringContaining('Make the folder'),
  });
  expect(await readdir(home)).toEqual([]);
});
