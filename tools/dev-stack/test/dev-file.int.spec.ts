import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useTempFolders } from '@berth/testing/folders';
import { DevFileWriter, type DevFile } from '../src/dev-file.js';

const tempFolder = useTempFolders();

const devFileOf = (pid: number): DevFile => ({
  baseUrl: 'http://127.0.0.1:8000',
  runUrl: 'http://127.0.0.1:8001',
  loadBalancerDomain: 'localhost:8001',
  apiKey: 'key',
  runtime: 'process',
  databaseUrl: 'postgres://127.0.0.1:8005/berth',
  natsUrl: 'nats://127.0.0.1:8003',
  readyAt: '2026-01-01T00:00:00.000Z',
  routers: [{ runUrl: 'http://127.0.0.1:8001', pid }],
  agents: [],
  processes: { 'job-router': pid },
  operations: {},
});
const PIDS = Array.from({ length: 20 }, (_, index) => index + 1);

test('processes that die at once are all told of, the last one last', async () => {
  const home = await tempFolder();
  const writer = new DevFileWriter(home);
  await Promise.all(PIDS.map((pid) => writer.write(() => devFileOf(pid))));
  expect(JSON.parse(await readFile(join(home, 'dev.json'), 'utf8'))).toEqual(devFileOf(20));
});

test('a file that is taken away stays away, and a change that cannot be described stops only itself', async () => {
  const home = await tempFolder();
  const writer = new DevFileWriter(home);
  const failed = writer.write(() => {
    throw new Error('not started');
  });
  const rest = [writer.write(() => devFileOf(1)), writer.remove(), writer.write(() => null)];
  await expect(failed).rejects.toThrow('not started');
  await Promise.all(rest);
  expect(existsSync(join(home, 'dev.json'))).toBe(false);
});
