import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { syncFolder } from './sync-folder.js';

test('a folder is synced, and one that is gone is an error, not a silence', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-sync-'));
  await expect(syncFolder(folder)).resolves.toBeUndefined();
  await rm(folder, { recursive: true });
  await expect(syncFolder(folder)).rejects.toMatchObject({ code: 'ENOENT' });
});
