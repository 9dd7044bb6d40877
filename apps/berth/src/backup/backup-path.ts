import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { misuse } from '../program/index.js';

const ENDING = '.tar.gz';

/**
 * The file that a backup is written to: the target itself, or in a folder one that is named for the time.
 *
 * @throws CommandError where the target is not there and not called an archive: it is a folder that nobody has made, and a
 * file of that name would stand in the way of every later backup
 */
export async function backupPathOf(target: string, atMs: number): Promise<string> {
  const kind = await kindOf(target);
  if (kind === 'folder') return join(target, `berth-${timeOf(atMs)}${ENDING}`);
  if (kind === 'nothing' && !target.endsWith(ENDING)) {
    throw misuse(
      `${target} is not there, and is not called an archive. Nothing was written.`,
      `Make the folder first, or name a file that ends in ${ENDING}.`,
    );
  }
  return target;
}

async function kindOf(path: string): Promise<'folder' | 'file' | 'nothing'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'nothing';
    throw error;
  }
}

const timeOf = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '');
