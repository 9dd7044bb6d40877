import { chmod, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { makeTempFolder, runCommand, type ContainerEngine, type TempFolder } from '@berth/servers';
import { environmentWith } from '../config.js';
import { PAGE_PORTS, overriding, type ComposePorts } from './override.js';
import { PageCommands } from './page-commands.js';

const REPOSITORY = resolve(import.meta.dirname, '../../../..');
const IMAGES = join(REPOSITORY, 'tools/images');
const SET = ['berth', 'management-api', 'job-router', 'worker-agent', 'nats-server', 'node-echo'];
const BUILD_MS = 1_200_000;
const COMMAND_MS = 300_000;
const PROJECT = 'label=com.docker.compose.project=berth';
/** Of every engine, whatever is made in it. */
const OWN_NETWORKS = ['bridge', 'host', 'none'];

/** What these tests read of `docker inspect`. */
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

/** A copy of deploy/compose in a private engine, whose page is followed: at ports of its own, with images of this repository. */
export class ComposedStack {
  readonly #engine: ContainerEngine;
  readonly #folder: TempFolder;
  readonly #page: PageCommands;
  readonly #ports: ComposePorts;

  private constructor(engine: ContainerEngine, folder: TempFolder, page: PageCommands, ports: ComposePorts) {
    this.#engine = engine;
    this.#folder = folder;
    this.#page = page;
    this.#ports = ports;
  }

  /** Packs the images and copies the page's folder, in which nothing is installed yet. */
  static async prepare(engine: ContainerEngine, ports: ComposePorts): Promise<ComposedStack> {
    // Where the engine keeps its own, which may be memory.
    const work = join(dirname(engine.socketPath), 'data', 'packed');
    await mkdir(work);
    const how = { timeoutMs: BUILD_MS, env: variables({ DOCKER_HOST: engine.host, TMPDIR: work }) };
    const compose = (await runCommand(join(IMAGES, 'compose.sh'), [], how)).trim();
    await runCommand(join(IMAGES, 'build.sh'), ['--packed', ...SET], how);
    await runCommand(join(IMAGES, 'postgres.sh'), ['berth/python-base:bookworm'], how);
    const folder = await makeTempFolder('berth-compose');
    const page = await PageCommands.read(join(REPOSITORY, 'deploy/compose/README.md'));
    const stack = new ComposedStack(engine, folder, page, ports);
    await cp(join(REPOSITORY, 'deploy'), join(folder.path, 'deploy'), { recursive: true });
    await stack.#addPrograms(compose);
    const own = {
      COMPOSE_FILE: 'compose.yaml:override.yaml',
      BERTH_DOCKER_SOCKET: engine.socketPath,
      BERTH_POSTGRES_IMAGE: 'berth/postgres-stand-in:18',
    };
    const lines = Object.entries(own).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(join(stack.home, '.env'), lines.join(''));
    await writeFile(join(stack.home, 'override.yaml'), overriding(ports));
    return stack;
  }

  get installation(): string {
    return join(this.home, 'installation');
  }

  /** Where the page's commands run. */
  get home(): string {
    return join(this.#folder.path, 'deploy/compose');
  }

  /** Runs what the page says below a heading, and returns what was printed. */
  follow(heading: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    return this.run(this.said(heading), more);
  }

  /** What the page says below a heading, at this stack's ports. */
  said(heading: string): string {
    return PAGE_PORTS(this.#ports).reduce(
      (text, [there, here]) => text.replaceAll(`127.0.0.1:${there}/`, `127.0.0.1:${here}/`),
      this.#page.below(heading),
    );
  }

  /** Runs shell commands in the page's folder. */
  run(commands: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const own = { DOCKER_HOST: this.#engine.host, DOCKER_CONFIG: join(this.#folder.path, 'docker') };
    const how = { timeoutMs: COMMAND_MS, cwd: this.home, env: variables({ ...own, ...more }) };
    const path = `PATH=${join(this.#folder.path, 'programs')}:$PATH`;
    return runCommand('bash', ['-euo', 'pipefail', '-c', `${path}\n${commands}`], how);
  }

  /** Every container of the file, running or not. */
  async containers(): Promise<readonly Inspected[]> {
    const ids = lines(await this.run(`docker ps --all --quiet --filter ${PROJECT}`));
    // One by one: all at once they are longer than what is kept of a command's output.
    const inspect = (id: string): Promise<string> => this.run(`docker inspect --format '{{json .}}' ${id}`);
    return Promise.all(ids.map(async (id) => JSON.parse(await inspect(id)) as Inspected));
  }

  /** Whatever is in the engine besides images: nobody else made anything there. */
  async leftovers(): Promise<readonly string[]> {
    const [containers, volumes, networks] = await Promise.all([
      this.run("docker ps --all --format '{{.Names}}'"),
      this.run('docker volume ls --quiet'),
      this.run("docker network ls --format '{{.Name}}'"),
    ]);
    const own = lines(networks).filter((name) => !OWN_NETWORKS.includes(name));
    return [...lines(containers), ...lines(volumes), ...own];
  }

  async remove(): Promise<void> {
    await this.run("docker compose --profile '*' down --volumes --timeout 5").finally(() => this.#folder.remove());
  }

  /** What the page expects of a machine and this one may lack: Compose as a plug-in, and `sudo`, which root needs not. */
  async #addPrograms(compose: string): Promise<void> {
    const plugins = join(this.#folder.path, 'docker/cli-plugins');
    const programs = join(this.#folder.path, 'programs');
    for (const folder of [plugins, programs]) await mkdir(folder, { recursive: true });
    await symlink(compose, join(plugins, 'docker-compose'));
    await writeFile(join(programs, 'sudo'), '#!/bin/sh\nexec "$@"\n');
    await chmod(join(programs, 'sudo'), 0o755);
  }
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

const variables = (more: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environmentWith(more)).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
