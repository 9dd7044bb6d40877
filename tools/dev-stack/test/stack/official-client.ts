import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { DevFile } from '../../src/dev-file.js';
import { environmentWith } from '../config.js';
import { pythonWith } from './python-client.js';

const run = promisify(execFile);
const REPOSITORY = resolve(import.meta.dirname, '../../../..');
const SCRIPT = resolve(import.meta.dirname, '../official-client.py');
const VERSION = '1.12.0';
/** Made by the sample worker's setup, which the `process` runtime runs and containers do not. */
const SAMPLE_VENV = join(REPOSITORY, 'examples/workers/python-echo/.venv');

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
export async function driveOfficialClient(
  dev: Pick<DevFile, 'apiKey' | 'runUrl'>,
  endpointId: string,
): Promise<ClientReport> {
  const environment = environmentWith({ RUNPOD_ENDPOINT_BASE_URL: `${dev.runUrl}/v2`, API_KEY: dev.apiKey });
  const { stdout } = await run(await clientPython(), [SCRIPT, endpointId], { env: environment });
  return JSON.parse(stdout) as ClientReport;
}

/** A Python that has the client. */
export const clientPython = (version = VERSION): Promise<string> =>
  pythonWith([{ name: 'runpod', version }], [SAMPLE_VENV]);
