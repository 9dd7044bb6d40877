import { execFile } from 'node:child_process';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { DevFile } from '../../src/dev-file.js';
import { environmentWith } from '../config.js';

const run = promisify(execFile);
const REPOSITORY = resolve(import.meta.dirname, '../../../..');
const SCRIPT = resolve(import.meta.dirname, '../official-client.py');
const VERSION = '1.12.0';
/** Made by the sample worker's setup, which the `process` runtime runs and containers do not. */
const SAMPLE_VENV = join(REPOSITORY, 'examples/workers/python-echo/.venv');
const OWN_VENV = join(homedir(), `.cache/berth/venvs/client-${VERSION}`);

/** What `official-client.py` saw. */
export interface ClientReport {
  readonly id: string;
  readonly status: string;
  readonly output: unknown;
  readonly run_sync: unknown;
  readonly before_cancel: string;
  readonly after_cancel: string;
  readonly health: { readonly jobs: Record<string, number>; readonly workers: Record<string, number> };
}

/** Has the published Python client do run, run_sync, status, cancel and health on a python-echo endpoint. */
export async function driveOfficialClient(dev: DevFile, endpointId: string): Promise<ClientReport> {
  const environment = environmentWith({ RUNPOD_ENDPOINT_BASE_URL: `${dev.runUrl}/v2`, API_KEY: dev.apiKey });
  const { stdout } = await run(await clientPython(), [SCRIPT, endpointId], { env: environment });
  return JSON.parse(stdout) as ClientReport;
}

/** A Python that has the client; its virtual environment is made once, when nobody has made one yet. */
export async function clientPython(): Promise<string> {
  for (const venv of [SAMPLE_VENV, OWN_VENV]) if (await hasClient(venv)) return pythonOf(venv);
  const making = `${OWN_VENV}.making`;
  await rm(making, { recursive: true, force: true });
  await mkdir(making, { recursive: true });
  await run('python3', ['-m', 'venv', making]);
  await run(pythonOf(making), ['-m', 'pip', 'install', '--quiet', `runpod==${VERSION}`]);
  await rm(OWN_VENV, { recursive: true, force: true });
  await rename(making, OWN_VENV);
  return pythonOf(OWN_VENV);
}

const pythonOf = (venv: string): string => join(venv, 'bin/python');

async function hasClient(venv: string): Promise<boolean> {
  const program = 'import importlib.metadata as m, sys; sys.exit(m.version("runpod") != sys.argv[1])';
  try {
    await run(pythonOf(venv), ['-c', program, VERSION]);
    return true;
  } catch {
    // Not there, half made, or another version: each means the same here.
    return false;
  }
}
