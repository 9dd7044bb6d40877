import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkerRegistration } from '../../src/bridge/bridge.port.js';
import { sdkPython } from './sdk-python.js';
import { registration, type TestAgent } from './test-agent.js';

export interface SdkWorkerOptions {
  readonly version: string;
  readonly handler: 'many' | 'stream' | 'plain' | 'crowd';
  readonly env?: Readonly<Record<string, string>>;
  /** Another start of the same worker has another token. */
  readonly token?: string;
}

/** A worker with the official SDK, in a process group of its own, as the `process` runtime starts one. */
export class SdkWorker {
  readonly id: string;
  readonly registration: WorkerRegistration;
  readonly #child: ChildProcess;
  readonly #folder: string;
  #output = '';
  readonly exited: Promise<number | null>;

  private constructor(registered: WorkerRegistration, child: ChildProcess, folder: string) {
    this.#folder = folder;
    this.id = registered.workerId;
    this.registration = registered;
    this.#child = child;
    child.stdout?.on('data', (text: Buffer) => (this.#output += text.toString()));
    child.stderr?.on('data', (text: Buffer) => (this.#output += text.toString()));
    this.exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  }

  static async start(agent: TestAgent, id: string, options: SdkWorkerOptions): Promise<SdkWorker> {
    const plain = registration(id, { endpointId: `ep${id}` as WorkerRegistration['endpointId'] });
    const token = options.token ?? plain.token;
    const own = { ...plain, token, facts: { ...plain.facts, env: options.env ?? {} } };
    const env = agent.bridge.registerWorker(own);
    const folder = await mkdtemp(join(tmpdir(), 'berth-worker-'));
    const python = await sdkPython(options.version);
    const file = fileURLToPath(new URL(`handlers/${options.handler}.py`, import.meta.url));
    const child = spawn(python, ['-u', file], {
      env: { ...env, PATH: '/usr/bin:/bin', PYTHONDONTWRITEBYTECODE: '1', HOME: '/nonexistent' },
      // SDK 1.7.11 to 1.10.0 keeps its list of jobs there: two workers in one folder would count each other's.
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new SdkWorker(own, child, folder);
  }

  /** Everything that it wrote so far: for the report of a failed test. */
  get output(): string {
    return this.#output;
  }

  terminate(): void {
    this.#child.kill('SIGTERM');
  }

  /** The whole group: the SDK pings from a process of its own. */
  async kill(): Promise<void> {
    if (this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null) {
      process.kill(-this.#child.pid, 'SIGKILL');
    }
    await this.exited;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
