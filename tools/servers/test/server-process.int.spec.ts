import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import {
  identifyProcess,
  isRunning,
  type ServerProcess,
  ServerStartError,
  spawnServer,
  stopLeftover,
} from '../src/index.js';

const tempFolder = useTempFolders();

interface Started {
  readonly server: ServerProcess;
  readonly folder: string;
  readonly pidFile: string;
}

const startShell = async (script: string): Promise<Started> => {
  const folder = await tempFolder();
  const pidFile = join(folder, 'server.pid');
  const server = await spawnServer({
    name: 'shell',
    executable: '/bin/sh',
    args: ['-c', script],
    folder,
    logFile: join(folder, 'server.log'),
    pidFile,
    stopSignal: 'SIGTERM',
  });
  return { server, folder, pidFile };
};

const FOREVER = 'while :; do sleep 0.05; done';

describe('a server process', () => {
  test('notes its pid while it runs, and takes the note back', async () => {
    const { server, pidFile } = await startShell(FOREVER);
    expect(JSON.parse(await readFile(pidFile, 'utf8'))).toEqual(await identifyProcess(server.pid));
    await expect(server.stop()).resolves.toEqual({ code: null, signal: 'SIGTERM' });
    expect(existsSync(pidFile)).toBe(false);
    expect(server.isRunning).toBe(false);
  });

  test('is killed when it does not stop in time', async () => {
    const { server, folder } = await startShell(`trap "" TERM; echo deaf; ${FOREVER}`);
    await eventually(async () => {
      expect(await readFile(join(folder, 'server.log'), 'utf8')).toBe('deaf\n');
    });
    await expect(server.stop(50)).resolves.toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('can be stopped again', async () => {
    const { server } = await startShell(FOREVER);
    await server.stop();
    await expect(server.stop()).resolves.toEqual({ code: null, signal: 'SIGTERM' });
    await expect(server.kill()).resolves.toEqual({ code: null, signal: 'SIGTERM' });
  });

  test('says how it ended and what it printed last', async () => {
    const { server } = await startShell('echo the reason >&2; exit 3');
    await server.exited;
    expect((await server.startError()).message).toMatch(/^shell ended with code 3\.[^]*the reason$/);
  });

  test('that cannot be executed is an error at once', async () => {
    const folder = await tempFolder();
    const command = {
      name: 'absent',
      executable: join(folder, 'absent'),
      args: [],
      folder,
      stopSignal: 'SIGTERM',
    } as const;
    const files = { logFile: join(folder, 'log'), pidFile: join(folder, 'pid') };
    await expect(spawnServer({ ...command, ...files })).rejects.toBeInstanceOf(ServerStartError);
  });
});

describe('what an earlier run left behind', () => {
  test('is ended, if it is still the process of the pid file', async () => {
    const { server, pidFile } = await startShell(FOREVER);
    await expect(stopLeftover(pidFile)).resolves.toBe('ended');
    expect(await isRunning(server.pid)).toBe(false);
    await expect(stopLeftover(pidFile)).resolves.toBe('none');
  });

  test('is killed when it does not stop in time', async () => {
    const { server, folder, pidFile } = await startShell(`trap "" TERM; echo deaf; ${FOREVER}`);
    await eventually(async () => {
      expect(await readFile(join(folder, 'server.log'), 'utf8')).toBe('deaf\n');
    });
    await expect(stopLeftover(pidFile, { deadlineMs: 50 })).resolves.toBe('ended');
    expect(await isRunning(server.pid)).toBe(false);
  });

  test('is left alone when it was started at another time: the pid was given away', async () => {
    const { server, pidFile } = await startShell(FOREVER);
    const recorded = JSON.parse(await readFile(pidFile, 'utf8')) as Record<string, unknown>;
    await writeFile(pidFile, JSON.stringify({ ...recorded, startedAt: 'another' }));
    await expect(stopLeftover(pidFile)).resolves.toBe('foreign');
    expect(await isRunning(server.pid)).toBe(true);
    expect(existsSync(pidFile)).toBe(false);
    await server.stop();
  });

  test('is ended too when it has become another program', async () => {
    const { server, folder, pidFile } = await startShell('sleep 0.2; echo changed; exec sleep 1000');
    await eventually(async () => {
      expect(await readFile(join(folder, 'server.log'), 'utf8')).toBe('changed\n');
      expect((await identifyProcess(server.pid))?.commandLine).toBe('sleep 1000');
    });
    await expect(stopLeftover(pidFile)).resolves.toBe('ended');
    expect(await isRunning(server.pid)).toBe(false);
  });

  test.each(['', 'null', '{"pid":1}', '[]'])('is nothing when the pid file says %j', async (text) => {
    const pidFile = join(await tempFolder(), 'server.pid');
    await writeFile(pidFile, text);
    await expect(stopLeftover(pidFile)).resolves.toBe('none');
  });
});

describe('when the parent dies', () => {
  const startParent = (): ChildProcessByStdio<Writable, Readable, null> =>
    spawn(process.execPath, [fileURLToPath(new URL('fixtures/parent.mjs', import.meta.url))], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });

  test.each(['SIGKILL', 'SIGTERM'] as const)('of %s, its servers end and its folders go', async (signal) => {
    const parent = startParent();
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const { folder, pids } = JSON.parse(line.toString()) as { folder: string; pids: number[] };
    expect(existsSync(folder)).toBe(true);
    for (const pid of pids) expect(await isRunning(pid)).toBe(true);
    parent.kill(signal);
    await once(parent, 'exit');
    await eventually(async () => {
      for (const pid of pids) expect(await isRunning(pid)).toBe(false);
      expect(existsSync(folder)).toBe(false);
    });
  });
});
