import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { pythonWith } from '@berth/testing/python';
import type { DevFile } from '../../src/dev-file.js';
import { environmentWith } from '../config.js';

const run = promisify(execFile);
const SCRIPT = resolve(import.meta.dirname, '../official-client.py');
const VERSION = '1.12.0';

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
export const clientPython = (version = VERSION): Promise<string> => pythonWith([`runpod==${version}`]);
