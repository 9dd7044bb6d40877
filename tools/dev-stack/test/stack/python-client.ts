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
 * A Python that has the packages; its virtual environment is made once, when nobody has made one yet.
 *
 * @param others virtual environments that may have them already
 */
export async function pythonWith(
  wanted: readonly [PythonPackage, ...PythonPackage[]],
  others: readonly string[] = [],
): Promise<string> {
  const pinned = wanted.map(({ name, version }) => `${name}==${version}`);
  const own = join(VENVS, pinned.join('+').replaceAll('==', '-'));
  for (const venv of [...others, own]) if (await has(venv, pinned)) return pythonOf(venv);
  const making = `${own}.${process.pid}.making`;
  await rm(making, { recursive: true, force: true });
  await mkdir(making, { recursive: true });
  await run('python3', ['-m', 'venv', making]);
  await run(pythonOf(making), ['-m', 'pip', 'install', '--quiet', ...pinned]);
  // Another suite may have made it meanwhile, and use it.
  if (await has(own, pinned)) await rm(making, { recursive: true });
  else {
    await rm(own, { recursive: true, force: true });
    await rename(making, own);
  }
  return pythonOf(own);
}

const pythonOf = (venv: string): string => join(venv, 'bin/python');

async function has(venv: string, pinned: readonly string[]): Promise<boolean> {
  const program =
    "import importlib.metadata as m, sys; sys.exit(any(m.version(p.split('==')[0]) != p.split('==')[1] for p in sys.argv[1:]))";
  try {
    await run(pythonOf(venv), ['-c', program, ...pinned]);
    return true;
  } catch {
    // Not there, half made, or another version: each means the same here.
    return false;
  }
}

/** A Python with the public clients and servers of HTTP and WebSockets that the tests of load-balanced endpoints talk with. */
export const webPython = (): Promise<string> =>
  pythonWith([
    { name: 'websockets', version: '17.4' },
    { name: 'fastapi', version: '0.165.0' },
    { name: 'uvicorn', version: '0.54.0' },
    { name: 'requests', version: '2.34.2' },
    { name: 'httpx', version: '0.28.1' },
    { name: 'aiohttp', version: '3.14.5' },
  ]);
