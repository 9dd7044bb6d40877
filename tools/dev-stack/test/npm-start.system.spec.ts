import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { isRunning, makeTempFolder, parentWatch, pollUntil, type TempFolder } from '@berth/servers';
import type { DevFile } from '../src/dev-file.js';
import { TenantClient } from '../src/tenant-client.js';
import { environmentWith } from './config.js';

const REPOSITORY = resolve(import.meta.dirname, '../../..');
const LAUNCHER = join(REPOSITORY, 'tools/dev-stack/dist/main.js');
const START_MS = 180_000;
const END_MS = 60_000;

/** The end of each of them, however long after one another. */
const allEnded = (pids: readonly number[]): Promise<true> =>
  pollUntil(async () => ((await Promise.all(pids.map(isRunning))).includes(true) ? undefined : true), {
    what: `the end of ${pids.join()}`,
    deadlineMs: END_MS,
  });

/** A child that a killed test run does not leave behind. */
function begin(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): ChildProcess {
  const child = spawn(command, args, { ...options, stdio: 'ignore' });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} did not start`);
  parentWatch.endProcess(pid, 'SIGTERM');
  child.once('exit', () => {
    parentWatch.spareProcess(pid, 'SIGTERM');
  });
  return child;
}

describe('the process that npm start is', () => {
  const flags = ['--ports', 'auto', '--runtime', 'process', '--demo', 'off', '--log-level', 'trace'];
  let folder: TempFolder;
  let left: readonly number[] = [];

  const devFile = (): string => join(folder.path, 'dev.json');
  const dev = (): DevFile => JSON.parse(readFileSync(devFile(), 'utf8')) as DevFile;
  const client = new TenantClient(dev);

  const ready = (): Promise<readonly number[]> =>
    pollUntil(() => Promise.resolve(existsSync(devFile()) ? Object.values(dev().processes) : undefined), {
      what: 'dev.json',
      deadlineMs: START_MS,
    });

  const startWithNpm = async (): Promise<{ readonly npm: ChildProcess; readonly pids: readonly number[] }> => {
    const args = ['start', '--', '--home', folder.path, ...flags];
    const npm = begin('npm', args, { cwd: REPOSITORY, env: environmentWith({}) });
    const pids = await ready();
    left = pids;
    return { npm, pids };
  };

  beforeAll(async () => {
    folder = await makeTempFolder('berth-npm-');
  });

  afterEach(async () => {
    for (const pid of left) if (await isRunning(pid)) process.kill(pid, 'SIGKILL');
    left = [];
  });

  afterAll(async () => {
    await folder.remove();
  });

  test(
    'SIGTERM to npm drains everything before npm ends, and the next start has the key and the job',
    async () => {
      const { npm, pids } = await startWithNpm();
      const { apiKey } = dev();
      const { body: endpoint } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
        name: 'waiting',
        type: 'QUEUE',
        image: 'local/not-there',
        cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
        scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
        workers: { min: 0, max: 1 },
      });
      const { body: job } = await client.job<{ id: string }>('POST', `/${endpoint.id}/run`, { input: {} });
      npm.kill('SIGTERM');
      await once(npm, 'exit');
      expect(await Promise.all(pids.map(isRunning))).toEqual(pids.map(() => false));
      expect(existsSync(devFile())).toBe(false);

      const second = await startWithNpm();
      expect(dev().apiKey).toBe(apiKey);
      expect((await client.job<{ status: string }>('GET', `/${endpoint.id}/status/${job.id}`)).body.status).toBe(
        'IN_QUEUE',
      );
      second.npm.kill('SIGTERM');
      await allEnded(second.pids);
    },
    2 * START_MS,
  );

  test.each(['SIGKILL', 'SIGHUP'] as const)(
    '%s to npm, which npm hands on to nobody, stops everything too',
    async (signal) => {
      const { npm, pids } = await startWithNpm();
      npm.kill(signal);
      await allEnded(pids);
      expect(existsSync(devFile())).toBe(false);
    },
    START_MS + END_MS,
  );

  test(
    'a launcher that was started without npm outlives who started it',
    async () => {
      const command = `'${process.execPath}' '${LAUNCHER}' --home '${folder.path}' ${flags.join(' ')} >/dev/null 2>&1 &`;
      const shell = begin('sh', ['-c', command], { cwd: REPOSITORY, env: environmentWith({}) });
      await once(shell, 'exit');
      left = await ready();
      expect(await Promise.all(left.map(isRunning))).toEqual(left.map(() => true));
      process.kill(dev().processes.launcher ?? 0, 'SIGTERM');
      await allEnded(left);
    },
    START_MS + END_MS,
  );
});

test(
  'what has been built already is left as it is, for processes run from it',
  async () => {
    const bootstrap = async (): Promise<number> => {
      const child = begin('node', ['tools/bootstrap/bootstrap.mjs'], { cwd: REPOSITORY, env: environmentWith({}) });
      expect(await once(child, 'exit')).toEqual([0, null]);
      return statSync(LAUNCHER).ino;
    };
    const before = await bootstrap();
    expect(await bootstrap()).toBe(before);
  },
  START_MS,
);

describe('npm start while it still installs', () => {
  let clone: TempFolder;

  beforeEach(async () => {
    clone = await makeTempFolder('berth-clone-');
    await cp(join(REPOSITORY, 'tools/bootstrap'), join(clone.path, 'tools/bootstrap'), { recursive: true });
    const { scripts, engines } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
      engines: unknown;
    };
    const start = 'touch started';
    const own = { name: 'clone', version: '0.0.0', type: 'module', engines };
    await writeFile(
      join(clone.path, 'package.json'),
      JSON.stringify({ ...own, scripts: { prestart: scripts['prestart'], start } }),
    );
    await writeFile(
      join(clone.path, 'package-lock.json'),
      JSON.stringify({ packages: { 'node_modules/missing': { version: '1.0.0' } } }),
    );
    // In the place of an installation that takes long: it has a child of its own, and ends only when it is told to.
    await mkdir(join(clone.path, 'node_modules/.bin'), { recursive: true });
    const installer = join(clone.path, 'node_modules/.bin/npm');
    await writeFile(
      installer,
      `#!/bin/sh\n[ "$1" = --version ] && exit 0\nsleep 600 &\necho "$$ $!" > pids.new\nmv pids.new pids\nwait\n`,
    );
    await chmod(installer, 0o755);
  });

  afterEach(async () => {
    await clone.remove();
  });

  test.each(['SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
    '%s to npm ends the installation, and nothing is started',
    async (signal) => {
      const npm = begin('npm', ['start'], { cwd: clone.path, env: environmentWith({}) });
      const pidsFile = join(clone.path, 'pids');
      const pids = await pollUntil(
        () =>
          Promise.resolve(
            existsSync(pidsFile) ? readFileSync(pidsFile, 'utf8').trim().split(' ').map(Number) : undefined,
          ),
        { what: 'the installation', deadlineMs: END_MS },
      );
      for (const pid of pids) parentWatch.endProcess(pid, 'SIGTERM');
      npm.kill(signal);
      await allEnded(pids);
      await pollUntil(() => Promise.resolve(existsSync(join(clone.path, '.cache/bootstrap.lock')) ? undefined : true), {
        what: 'the end of the bootstrap',
        deadlineMs: END_MS,
      });
      for (const pid of pids) parentWatch.spareProcess(pid, 'SIGTERM');
      expect(existsSync(join(clone.path, 'started'))).toBe(false);
    },
    2 * END_MS,
  );
});
