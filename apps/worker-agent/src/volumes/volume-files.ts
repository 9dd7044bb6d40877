import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HostVolume } from '@berth/contracts';

/** Ids are ours; whatever else stood there could name a folder beside or above the volumes. */
const ID = /^[A-Za-z0-9_-]{1,128}$/;
/** Other users of the host get no further. */
const ACCOUNT_MODE = 0o700;
/** Images run as whatever user they like. */
const VOLUME_MODE = 0o777;
const LEFT_CODES: readonly (string | undefined)[] = ['ENOTEMPTY', 'EEXIST', 'ENOENT'];

/** @throws Error for ids that are none */
function pathOf(root: string, { accountId, id }: HostVolume): string {
  if (!ID.test(accountId) || !ID.test(id)) throw new Error('a volume has an id that can name no folder');
  return join(root, accountId, id);
}

/** Makes the volume's folder where there is none. Tenants write below it only, so nothing above it can be a link of theirs. */
export async function makeVolume(root: string, volume: HostVolume): Promise<string> {
  const path = pathOf(root, volume);
  await makeFolder(join(root, volume.accountId), ACCOUNT_MODE);
  await makeFolder(path, VOLUME_MODE);
  return path;
}

async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!(await lstat(path)).isDirectory()) throw new Error(`${path} is no folder`, { cause: error });
    return;
  }
  // `mkdir` leaves out what the agent's umask forbids.
  await chmod(path, mode);
}

/**
 * Removes all that the volume holds, and the account's folder with its last one. By `rm`, which works relative to folders
 * that it holds open: a path that a tenant's program replaces by a link meanwhile leads it nowhere else.
 *
 * @throws Error where something is left
 */
export async function removeVolume(root: string, volume: HostVolume, signal: AbortSignal): Promise<void> {
  await promisify(execFile)('rm', ['-rf', '--', pathOf(root, volume)], { signal });
  await rmdir(join(root, volume.accountId)).catch((error: NodeJS.ErrnoException) => {
    if (!LEFT_CODES.includes(error.code)) throw error;
  });
}
