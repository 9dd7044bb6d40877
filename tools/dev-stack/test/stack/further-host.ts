import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { makeTempFolder, parentWatch, type TempFolder } from '@berth/servers';
import type { StartedStack } from '../../src/started-stack.js';
import type { TenantClient } from '../../src/tenant-client.js';
import { environmentWith } from '../config.js';

const REPOSITORY = resolve(import.meta.dirname, '../../../..');

export interface FurtherHostOptions {
  readonly name: string;
  readonly dataCenterId: string;
  /** Of its agent, over what every agent of a stack is told. */
  readonly settings: Readonly<Record<string, string>>;
  /** Repository whose build the agent is first started from. Absent: this one. */
  readonly root?: string;
}

interface Invitation {
  readonly hostId: string;
  readonly token: string;
}

/** A host beside those that a stack watches over, as an operator adds one: its agent goes and comes as the test says. */
export class FurtherHost {
  readonly hostId: string;
  readonly #folder: TempFolder;
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;
  /** What its agents have logged, of all its lives. */
  output = '';

  private constructor(hostId: string, folder: TempFolder, environment: Readonly<Record<string, string>>) {
    this.hostId = hostId;
    this.#folder = folder;
    this.#environment = environment;
  }

  /** Invites the host and starts its agent. */
  static async add(stack: StartedStack, tenant: TenantClient, options: FurtherHostOptions): Promise<FurtherHost> {
    const { dataCenterId, name, root, settings } = options;
    const { body, status } = await tenant.manage<Invitation>('POST', '/v2/hosts/join-tokens', { name, dataCenterId });
    if (status !== 201) throw new Error(`The host was not invited: ${JSON.stringify(body)}`);
    const folder = await makeTempFolder('berth-host-');
    const host = new FurtherHost(body.hostId, folder, {
      ...{ BERTH_NATS_URL: stack.dev.natsUrl, BERTH_JOIN_TOKEN: body.token, BERTH_HOME: join(folder.path, 'agent') },
      ...{ BERTH_OPERATIONS_PORT: '0', BERTH_LOG_FORMAT: 'json', BERTH_KEEP_WORKERS: 'false' },
      ...settings,
    });
    host.start(root);
    return host;
  }

  /** The agent's own folder. */
  get home(): string {
    return join(this.#folder.path, 'agent');
  }

  /** The same host comes back with what its disk has. */
  start(root = REPOSITORY): void {
    const main = join(root, 'apps/worker-agent/dist/main.js');
    const child = spawn(process.execPath, ['--enable-source-maps', main], {
      env: environmentWith(this.#environment),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text: Buffer) => {
        this.output += text.toString();
      });
    }
    this.#child = child;
    const { pid } = child;
    if (pid === undefined) return;
    parentWatch.endProcess(pid, 'SIGTERM');
    child.once('exit', () => {
      parentWatch.spareProcess(pid, 'SIGTERM');
    });
  }

  /** What its agents have said so far, of all its lives, with these words. */
  said(words: string): readonly Readonly<Record<string, unknown>>[] {
    const lines = this.output.split('\n').filter((line) => line.endsWith('}'));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === words);
  }

  /** Its agent ends, and with `SIGTERM` its workers do. Resolves with the exit code; null when a signal ended it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    return child.exitCode;
  }

  async remove(): Promise<void> {
    await this.end('SIGTERM');
    await this.#folder.remove();
  }
}
