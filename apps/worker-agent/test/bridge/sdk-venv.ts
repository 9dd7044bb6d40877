import { execFile } from 'node:child_process';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
/** Outside the clone, like the base image: five of them take minutes to make. */
const CACHE = join(homedir(), '.cache/berth/venvs');
const MARK = 'berth-complete';

/** Time for `prepareSdks` where nothing is there yet; with a warm cache it takes none. */
export const SDK_SETUP_MS = 600_000;

const folderOf = (version: string): string => join(CACHE, version);

/** The Python interpreter with that version of the official SDK; `prepareSdks` has made it. */
export const sdkPython = (version: string): string => join(folderOf(version), 'bin', 'python');

/** Makes a virtual environment for each version, once; they are kept between runs. */
export async function prepareSdks(versions: readonly string[]): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  for (const version of versions) if (!(await isComplete(version))) await make(version);
}

/** Under a name of its own first: another run may be making the same, and whoever is first to rename wins. */
async function make(version: string): Promise<void> {
  const making = `${folderOf(version)}.${process.pid}`;
  await execute('python3', ['-m', 'venv', making]);
  await execute(join(making, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', `runpod==${version}`]);
  await writeFile(join(making, MARK), '');
  const isFirst = await rename(making, folderOf(version)).then(
    () => true,
    () => false,
  );
  if (isFirst) return;
  await rm(making, { recursive: true, force: true });
  if (!(await isComplete(version))) throw new Error(`remove ${folderOf(version)}: it is there and not whole`);
}

const isComplete = (version: string): Promise<boolean> =>
  access(join(folderOf(version), MARK)).then(
    () => true,
    () => false,
  );
