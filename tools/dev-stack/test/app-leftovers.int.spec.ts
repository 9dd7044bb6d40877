import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { isRunning, spawnServer, type ServerProcess } from '@berth/servers';
import { useTempFolders } from '@berth/testing';
import { endLeftovers, pidFileOf } from '../src/app-leftovers.js';

const tempFolder = useTempFolders();

test('a start ends all routers that a killed launcher left, also those that it will not have itself', async () => {
  const home = await tempFolder();
  const leave = (name: 'job-router' | 'job-router-2' | 'job-router-16'): Promise<ServerProcess> =>
    spawnServer({
      name,
      executable: '/bin/sleep',
      args: ['600'],
      folder: home,
      logFile: join(home, `${name}.log`),
      pidFile: pidFileOf(home, name),
      stopSignal: 'SIGTERM',
    });
  const left = await Promise.all([leave('job-router'), leave('job-router-2'), leave('job-router-16')]);
  await endLeftovers(home);
  expect(await Promise.all(left.map(({ pid }) => isRunning(pid)))).toEqual([false, false, false]);
  expect(existsSync(pidFileOf(home, 'job-router-16'))).toBe(false);
});
