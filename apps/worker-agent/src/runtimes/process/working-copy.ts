import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfCancelled } from '../runtime-error.js';
import { DATA_FILE_MIN_BYTES, listFolder, type FolderEntry } from './folder-content.js';
import { productsOf } from './run-setup.js';

/**
 * Gives a worker a folder of its own with the image's content: workers that share a writable working folder take each
 * other's files for theirs. What the setup made and large files are linked, not copied: a Python environment has
 * thousands of files, and copying it would be most of a cold start. They must be treated as read-only.
 */
export async function makeWorkingCopy(source: string, target: string, signal: AbortSignal | undefined): Promise<void> {
  const products = await productsOf(source);
  await mkdir(target, { recursive: true });
  for (const entry of await listFolder(source, new Set(products))) {
    throwIfCancelled(signal);
    await copyEntry(source, target, entry);
  }
  for (const product of products) await linkIfThere(source, target, product);
}

async function copyEntry(source: string, target: string, entry: FolderEntry): Promise<void> {
  const from = join(source, entry.path);
  const to = join(target, entry.path);
  if (entry.kind === 'folder') await mkdir(to);
  else if (entry.kind === 'link') await symlink(await readlink(from), to);
  else if (entry.sizeBytes >= DATA_FILE_MIN_BYTES) await symlink(from, to);
  else {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await chmod(to, entry.mode);
  }
}

/** A product may have been deleted by hand, with the content folder around it too; the worker then says what it lacks. */
async function linkIfThere(source: string, target: string, path: string): Promise<void> {
  try {
    await symlink(join(source, path), join(target, path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
