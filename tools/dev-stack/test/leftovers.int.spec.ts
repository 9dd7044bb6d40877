import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { isRunning, pollUntil, reservePortBlock, spawnServer, type ServerProcess } from '@berth/servers';
import { useTempFolders } from '@berth/testing/folders';
import type { AppProcessName } from '../src/app-processes.js';
import { readStackConfig } from '../src/config.js';
import { endLeftovers, pidFileOf } from '../src/leftovers.js';
import { prepareHome } from '../src/stack-home.js';
import { findFreeBlock } from './stack/find-free-block.js';

const tempFolder = useTempFolders();
const STAY = 'setInterval(() => undefined, 60_000)';

/** What a launcher that is killed leaves running. */
const leave = (home: string, name: AppProcessName, program = STAY): Promise<ServerProcess> =>
  spawnServer({
    name,
    executable: process.execPath,
    args: ['-e', program],
    folder: home,
    logFile: join(home, `${name}.log`),
    pidFile: pidFileOf(home, name),
    stopSignal: 'SIGTERM',
  });

test('a start ends all routers that a killed launcher left, also those that it will not have itself', async () => {
  const home = await tempFolder();
  const names = ['job-router', 'job-router-2', 'job-router-16'] as const;
  const left = await Promise.all(names.map((name) => leave(home, name)));
  await endLeftovers(home);
  expect(await Promise.all(left.map(({ pid }) => isRunning(pid)))).toEqual([false, false, false]);
  expect(existsSync(pidFileOf(home, 'job-router-16'))).toBe(false);
});

test('ports that what was left still holds are had once it has ended', async () => {
  const home = await tempFolder();
  const first = await findFreeBlock(12);
  const port = first + 10;
  // Drains for a while, as a router does, before it lets go of its port.
  const drain = `process.on('SIGTERM', () => setTimeout(() => process.exit(), 500))`;
  await leave(home, 'job-router-2', `require('net').createServer().listen(${port}, '127.0.0.1'); ${drain}`);
  await pollUntil(
    async () => {
      const free = await reservePortBlock(port, 1);
      await free?.release();
      return free === undefined ? true : undefined;
    },
    { what: `a listener at port ${port}`, deadlineMs: 15_000 },
  );
  const flags = ['--home', home, '--ports', String(first), '--routers', '2'];
  const { ports } = await prepareHome(readStackConfig(flags, { folder: '/', repository: '/', environment: {} }));
  expect(ports.routers[1]).toEqual({ http: port, operations: first + 11 });
});
