import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { BASE_IMAGE, isRunning, startEngine, type ContainerEngine } from '../src/index.js';
import { runCommand } from '../src/processes/run-command.js';

const START_MS = 60_000;
/** The first run on a machine builds the base image. */
const BUILD_MS = 600_000;

const tempFolder = useTempFolders();
const engines: ContainerEngine[] = [];

const start = async (folder: string): Promise<ContainerEngine> => {
  const engine = await startEngine({ folder });
  engines.push(engine);
  return engine;
};

const docker = async (engine: { readonly host: string }, ...args: string[]): Promise<string> =>
  (await runCommand('docker', ['--host', engine.host, ...args], { timeoutMs: START_MS })).trim();

/** The name of the bridge, and with it of everything else that an engine has on the machine. */
const bridgeOf = async (folder: string): Promise<string> => {
  const [bridge] = (await readFile(join(folder, 'engine.note'), 'utf8')).split(' ');
  if (bridge === undefined) throw new Error('The note begins with the name of the bridge.');
  return bridge;
};

const leftOnMachine = async (folder: string, bridge: string): Promise<string[]> => {
  const [rules, translations, mounts, groups] = await Promise.all([
    runCommand('iptables', ['--wait', '-S'], { timeoutMs: START_MS }),
    runCommand('iptables', ['--wait', '-t', 'nat', '-S'], { timeoutMs: START_MS }),
    readFile('/proc/self/mountinfo', 'utf8'),
    runCommand('find', ['/sys/fs/cgroup', '-type', 'd', '-name', bridge], { timeoutMs: START_MS }),
  ]);
  const lines = [rules, translations, mounts, groups].join('\n').split('\n');
  return [
    ...lines.filter((line) => line.split(/[\s/]+/).includes(bridge) || line.includes(`${folder}/`)),
    ...(existsSync(`/sys/class/net/${bridge}`) ? [bridge] : []),
  ];
};

/** An image of one static program, with no base. */
const tinyImage = async (engine: ContainerEngine): Promise<string> => {
  const context = await tempFolder();
  const { folder } = { folder: join(context, 'image') };
  await mkdir(folder);
  await runCommand('cp', ['/usr/bin/docker-init', join(folder, 'init')], { timeoutMs: START_MS });
  await writeFile(join(folder, 'Dockerfile'), 'FROM scratch\nCOPY init /init\nENTRYPOINT ["/init", "--version"]\n');
  await engine.buildImage('berth/tiny:1', folder);
  return 'berth/tiny:1';
};

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.stop()));
}, START_MS);

describe('a private container engine', () => {
  test(
    'runs beside another one, and leaves nothing on the machine but its images',
    async () => {
      const [folder, other] = await Promise.all([tempFolder(), tempFolder()]);
      const [engine, neighbour] = await Promise.all([start(folder), start(other)]);
      const image = await tinyImage(engine);
      expect(await docker(engine, 'run', '--rm', image)).toMatch(/^tini version/);
      expect(await docker(neighbour, 'images', '--quiet')).toBe('');
      await docker(engine, 'network', 'create', 'another');
      const bridges = await Promise.all([bridgeOf(folder), bridgeOf(other)]);
      expect(bridges[0]).not.toBe(bridges[1]);
      await Promise.all([engine.stop(), neighbour.stop()]);
      expect(await leftOnMachine(folder, bridges[0])).toEqual([]);
      expect(await leftOnMachine(other, bridges[1])).toEqual([]);
      const again = await start(folder);
      expect(await docker(again, 'images', '--quiet')).not.toBe('');
    },
    START_MS,
  );

  test(
    'tidies up at the next start what a kill left behind',
    async () => {
      const folder = await tempFolder();
      const engine = await start(folder);
      const bridge = await bridgeOf(folder);
      const daemonPid = Number(await readFile(join(folder, 'docker.pid'), 'utf8'));
      process.kill(engine.pid, 'SIGKILL');
      process.kill(daemonPid, 'SIGKILL');
      await engine.exited;
      expect(await leftOnMachine(folder, bridge)).not.toEqual([]);
      const again = await start(folder);
      expect(await isRunning(daemonPid)).toBe(false);
      await again.stop();
      expect(await leftOnMachine(folder, bridge)).toEqual([]);
    },
    START_MS,
  );

  test(
    'ends with the process that started it, even by SIGKILL',
    async () => {
      const folder = await tempFolder();
      const script = fileURLToPath(new URL('fixtures/engine-parent.mjs', import.meta.url));
      const parent = spawn(process.execPath, [script, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
      await once(parent.stdout, 'data');
      const bridge = await bridgeOf(folder);
      parent.kill('SIGKILL');
      await eventually(
        async () => {
          expect(await leftOnMachine(folder, bridge)).toEqual([]);
        },
        { deadlineMs: 90_000 },
      );
    },
    START_MS,
  );

  test(
    'builds a base image with Python without a registry, and installs packages into images on it',
    async () => {
      const engine = await start(await tempFolder());
      await engine.loadBaseImage();
      const folder = await tempFolder();
      const recipe = [
        `FROM ${BASE_IMAGE}`,
        'ARG PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_DEFAULT_TIMEOUT',
        'RUN python3 -m venv /venv && /venv/bin/pip install --no-cache-dir idna==3.10',
        'CMD ["/venv/bin/python", "-c", "import idna; print(idna.__version__)"]',
      ];
      await writeFile(join(folder, 'Dockerfile'), recipe.join('\n'));
      await engine.buildImage('berth/on-base:1', folder);
      expect(await docker(engine, 'run', '--rm', 'berth/on-base:1')).toBe('3.10');
    },
    BUILD_MS,
  );
});
