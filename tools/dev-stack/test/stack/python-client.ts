import { execFile } from 'node:child_process';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const VENVS = join(homedir(), '.cache/berth/venvs');

/** One release of a published Python package. */
export interface PythonPackage {
  readonly name: string;
  readonly version: string;
}

/**
 * A Python that has the package; its virtual environment is made once, when nobody has made one yet.
 *
 * @param others virtual environments that may have it already
 */
export async function pythonWith(wanted: PythonPackage, others: readonly string[] = []): Promise<string> {
  const own = join(VENVS, `${wanted.name}-${wanted.version}`);
  for (const venv of [...others, own]) if (await has(venv, wanted)) return pythonOf(venv);
  const making = `${own}.making`;
  await rm(making, { recursive: true, force: true });
  await mkdir(making, { recursive: true });
  await run('python3', ['-m', 'venv', making]);
  await run(pythonOf(making), ['-m', 'pip', 'install', '--quiet', `${wanted.name}==${wanted.version}`]);
  await rm(own, { recursive: true, force: true });
  await rename(making, own);
  return pythonOf(own);
}

const pythonOf = (venv: string): string => join(venv, 'bin/python');

async function has(venv: string, { name, version }: PythonPackage): Promise<boolean> {
  const program = 'import importlib.metadata as m, sys; sys.exit(m.version(sys.argv[1]) != sys.argv[2])';
  try {
    await run(pythonOf(venv), ['-c', program, name, version]);
    return true;
  } catch {
    // Not there, half made, or another version: each means the same here.
    return false;
  }
}
