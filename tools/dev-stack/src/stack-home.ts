import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from '@berth/lifecycle';
import { findRecorded, removePidFile, writePidFile } from '@berth/servers';
import { volumesFolder, type StackFacts } from './app-environment.js';
import { chooseStorage } from './choose-storage.js';
import type { StackConfig } from './config.js';
import { removeDevFile } from './dev-file.js';
import { endLeftovers } from './leftovers.js';
import { choosePorts } from './stack-ports.js';
import { loadOrCreateSecrets } from './stack-secrets.js';

/** What the home decides of a stack. */
type HomeFacts = Pick<StackFacts, 'ports' | 'secrets' | 'storageBytes'>;

/**
 * Makes the home this launcher's, and finds there what stays from one start to the next.
 *
 * @throws ConfigError where the home cannot be used, or its ports cannot be had
 */
export async function prepareHome(config: StackConfig): Promise<HomeFacts> {
  const { home, hosts, ports: first, routers } = config;
  try {
    await makeFolder(home);
    await claim(home);
    await endLeftovers(home);
    await makeFolder(volumesFolder(home));
    const ports = await choosePorts({ first, routers, hosts }, home);
    return { ports, secrets: await loadOrCreateSecrets(home), storageBytes: await chooseStorage(home) };
  } catch (error) {
    throw whyUnusable(home, error);
  }
}

export const releaseHome = (home: string): Promise<void> => removePidFile(pidFileOf(home));

const pidFileOf = (home: string): string => join(home, 'launcher.pid');

/** With the folders above it. Not by Node's `recursive`, which never ends where the kernel lets nothing be made (`/proc`). */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path);
  }
}

/**
 * One launcher per home.
 *
 * @throws ConfigError while another launcher lives there
 */
async function claim(home: string): Promise<void> {
  const other = await findRecorded(pidFileOf(home));
  if (other !== undefined) {
    throw new ConfigError([
      `BERTH_HOME: a stack already runs in ${home} (process ${other.pid}). Stop it, or choose another folder.`,
    ]);
  }
  await removeDevFile(home);
  await writePidFile(pidFileOf(home), process.pid);
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EDQUOT: 'the quota of its disk is used up',
  EEXIST: 'a file stands in its way',
  EISDIR: 'a folder stands where a file of the stack belongs',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'nothing can be made there',
  ENOSPC: 'its disk is full',
  ENOTDIR: 'a file stands in its way',
  EPERM: 'this user may not write there',
  EROFS: 'its disk is read-only',
};

/** What is wrong with the home, where that is why a file could not be written; any other error as it is. */
function whyUnusable(home: string, error: unknown): unknown {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  const reason = REASONS[code];
  // A port that this user may not have is no matter of the home.
  if (reason === undefined || syscall === 'listen') return error;
  return new ConfigError([`BERTH_HOME: ${home} cannot be used: ${reason} (${code}). Choose another folder.`]);
}
