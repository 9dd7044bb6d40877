import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CommandError, runCommand } from '../processes/run-command.js';
import { systemPackagesFolder } from '../repository.js';

export interface DebianProgram {
  readonly packageName: string;
  /** In the package: `usr/sbin/nginx`. */
  readonly path: string;
  /** With this it says its version and ends. */
  readonly versionFlag: string;
}

const VERSION_MS = 5_000;
const FETCH_MS = 120_000;

/**
 * Where a program is: on PATH, or unpacked from the package of this system beside the build, where it touches nothing.
 *
 * @throws CommandError why it cannot be had
 */
export async function findDebianProgram({ packageName, path, versionFlag }: DebianProgram): Promise<string> {
  const name = basename(path);
  if (await runs(name, versionFlag)) return name;
  const folder = join(systemPackagesFolder, packageName);
  const fetched = join(folder, path);
  if (!existsSync(fetched)) await fetchPackage(packageName, folder);
  await runCommand(fetched, [versionFlag], { timeoutMs: VERSION_MS });
  return fetched;
}

async function runs(executable: string, versionFlag: string): Promise<boolean> {
  try {
    await runCommand(executable, [versionFlag], { timeoutMs: VERSION_MS });
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

async function fetchPackage(packageName: string, folder: string): Promise<void> {
  // Of this process: another one may be at it as well.
  const draft = `${folder}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  await download(packageName, draft);
  const archives = (await readdir(draft)).filter((name) => name.endsWith('.deb'));
  for (const archive of archives) {
    await runCommand('dpkg', ['-x', archive, '.'], { cwd: draft, timeoutMs: FETCH_MS });
    await rm(join(draft, archive));
  }
  await rm(folder, { recursive: true, force: true });
  await rename(draft, folder);
}

async function download(packageName: string, cwd: string): Promise<void> {
  const options = { cwd, timeoutMs: FETCH_MS };
  try {
    await runCommand('apt-get', ['download', packageName], options);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    // A system that is new knows no packages yet, and one that is old knows some that are gone.
    await runCommand('apt-get', ['update', '-q'], options);
    await runCommand('apt-get', ['download', packageName], options);
  }
}
