import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeTempFolder, runCommand, type ContainerEngine, type TempFolder } from '@berth/servers';
import { environmentWith } from '../config.js';
import { overriding, type ComposePorts } from './override.js';

const REPOSITORY = resolve(import.meta.dirname, '../../../..');
const SCRIPTS = join(REPOSITORY, 'tools/images');
const COMPOSE_FILE = join(REPOSITORY, 'deploy/compose/compose.yaml');
const POSTGRES_IMAGE = 'berth/postgres-stand-in:18';
/** The user of every image of ours. */
export const IMAGE_USER = 10_001;
/** Of each kind of image one; the first build on a machine fetches its packages. */
const IMAGES = ['berth', 'management-api', 'job-router', 'worker-agent', 'nats-server', 'python-echo'];
const BUILD_MS = 1_800_000;
const COMMAND_MS = 300_000;

/** Who may see the state of a container, as `docker inspect` tells it. */
export interface Inspected {
  readonly Name: string;
  readonly Config: { readonly User: string; readonly Labels: Readonly<Record<string, string>> };
  readonly State: { readonly Status: string; readonly Health?: { readonly Status: string } };
  readonly HostConfig: {
    readonly ReadonlyRootfs: boolean;
    readonly CapDrop: readonly string[] | null;
    readonly SecurityOpt: readonly string[] | null;
    readonly Memory: number;
    readonly NanoCpus: number;
    readonly PidsLimit: number | null;
    readonly RestartPolicy: { readonly Name: string };
    readonly PortBindings: Readonly<Record<string, readonly { readonly HostIp: string }[]>> | null;
  };
}

/** deploy/compose in a private engine: the file as it is, at ports of its own and with this machine's images. */
export class ComposedStack {
  readonly #program: string;
  readonly #engine: ContainerEngine;
  readonly #folder: TempFolder;
  readonly #environment: Record<string, string>;

  private constructor(program: string, engine: ContainerEngine, folder: TempFolder) {
    this.#program = program;
    this.#engine = engine;
    this.#folder = folder;
    this.#environment = {
      DOCKER_HOST: engine.host,
      BERTH_DOCKER_SOCKET: engine.socketPath,
      BERTH_INSTALLATION: this.installation,
      BERTH_POSTGRES_IMAGE: POSTGRES_IMAGE,
    };
  }

  /** Builds every image without a registry and prepares an empty installation. */
  static async build(engine: ContainerEngine, ports: ComposePorts): Promise<ComposedStack> {
    const how = { timeoutMs: BUILD_MS, env: variables({ DOCKER_HOST: engine.host }) };
    const program = (await runCommand(join(SCRIPTS, 'compose.sh'), [], how)).trim();
    await runCommand(join(SCRIPTS, 'build.sh'), ['--no-registry', ...IMAGES], how);
    await runCommand(join(SCRIPTS, 'postgres.sh'), [], how);
    const stack = new ComposedStack(program, engine, await makeTempFolder('berth-compose'));
    await mkdir(stack.installation, { mode: 0o700 });
    await chown(stack.installation, IMAGE_USER, IMAGE_USER);
    await writeFile(stack.#overrideFile, overriding(ports));
    return stack;
  }

  get installation(): string {
    return join(this.#folder.path, 'installation');
  }

  get #overrideFile(): string {
    return join(this.#folder.path, 'override.yaml');
  }

  compose(words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> {
    const files = ['--file', COMPOSE_FILE, '--file', this.#overrideFile];
    const env = variables({ ...this.#environment, ...more });
    return runCommand(this.#program, [...files, ...words], { timeoutMs: COMMAND_MS, env });
  }

  /** The operator's command, in a container of its own. */
  berth(...words: readonly string[]): Promise<string> {
    return this.compose(['run', '--rm', '--no-TTY', 'berth', ...words]);
  }

  async docker(...words: readonly string[]): Promise<string> {
    const text = await runCommand('docker', ['--host', this.#engine.host, ...words], { timeoutMs: COMMAND_MS });
    return text.trim();
  }

  /** Every container of the file, running or not. */
  async containers(): Promise<readonly Inspected[]> {
    const ids = lines(await this.docker('ps', '--all', '--quiet', '--filter', PROJECT));
    return ids.length === 0 ? [] : (JSON.parse(await this.docker('inspect', ...ids)) as Inspected[]);
  }

  /** What the file made in the engine: containers, volumes and networks. */
  async leftovers(): Promise<readonly string[]> {
    const lists = await Promise.all([
      this.docker('ps', '--all', '--quiet', '--filter', PROJECT),
      this.docker('volume', 'ls', '--quiet', '--filter', PROJECT),
      this.docker('network', 'ls', '--quiet', '--filter', PROJECT),
    ]);
    return lists.flatMap(lines);
  }

  /** Nothing of it stays, not even what it has kept. */
  async remove(): Promise<void> {
    await this.compose(['--profile', '*', 'down', '--volumes', '--remove-orphans', '--timeout', '5']);
  }

  async forget(): Promise<void> {
    await this.#folder.remove();
  }
}

const PROJECT = 'label=com.docker.compose.project=berth';

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

const variables = (more: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environmentWith(more)).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
