import { afterEach, describe, expect, test } from '@jest/globals';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { useTempFolders } from '@berth/testing/folders';
import { isRunning, startPostgres, type PostgresServer, type StartPostgresOptions } from '../src/index.js';

const tempFolder = useTempFolders();
const servers: PostgresServer[] = [];

const start = async (options: StartPostgresOptions): Promise<PostgresServer> => {
  const server = await startPostgres(options);
  servers.push(server);
  return server;
};

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.kill()));
});

const query = async (url: string, text: string): Promise<unknown[]> => {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows.flatMap((row) => Object.values(row));
  } finally {
    await client.end();
  }
};

describe('a PostgreSQL', () => {
  test('is version 18 and writes to the disk before it answers', async () => {
    const server = await start({ dataDir: await tempFolder() });
    expect(await query(server.url, "SELECT current_setting('server_version_num')::int / 10000")).toEqual([18]);
    expect(await query(server.url, 'SHOW fsync')).toEqual(['on']);
    expect(await query(server.url, 'SHOW synchronous_commit')).toEqual(['on']);
    expect(await query(server.url, 'SHOW full_page_writes')).toEqual(['on']);
  });

  test('lets nobody in without the password', async () => {
    const server = await start({ dataDir: await tempFolder() });
    const address = new URL(server.url);
    address.password = 'guessed';
    await expect(query(address.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
  });

  test.each(['stop', 'kill'] as const)('keeps what was committed over %s and a start on the same port', async (how) => {
    const dataDir = await tempFolder();
    const first = await start({ dataDir });
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    await first[how]();
    expect(await isRunning(first.pid)).toBe(false);
    const second = await start({ dataDir, port: first.port });
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([7]);
  });

  test('ends the one that an earlier run left in the same folder, even without its pid file', async () => {
    const dataDir = await tempFolder();
    const leftover = await start({ dataDir });
    await writeFile(join(dataDir, 'postgres.pid'), 'not written by us');
    const second = await start({ dataDir });
    expect(await isRunning(leftover.pid)).toBe(false);
    expect(await query(second.url, 'SELECT 1')).toEqual([1]);
  });

  test('starts although its lock names a process that lives and is another', async () => {
    const dataDir = await tempFolder();
    const first = await start({ dataDir });
    await first.stop();
    await writeFile(join(dataDir, 'cluster', 'postmaster.pid'), `${String(process.pid)}\n`);
    const second = await start({ dataDir });
    expect(await query(second.url, 'SELECT 1')).toEqual([1]);
  });

  test('runs in a folder that only its owner may enter, such as the home of root', async () => {
    const closed = await tempFolder();
    const server = await start({ dataDir: join(closed, 'state', 'postgres') });
    expect((await stat(closed)).mode & 0o077).toBe(0);
    expect(await query(server.url, 'SELECT 1')).toEqual([1]);
  });

  test('makes databases, empty or copied', async () => {
    const server = await start({ dataDir: await tempFolder() });
    const template = await server.createDatabase('migrated');
    await query(template, 'CREATE TABLE seeded AS SELECT 1 AS n');
    const copy = await server.createDatabase('the "copy"', { template: 'migrated' });
    expect(await query(copy, 'SELECT n FROM seeded')).toEqual([1]);
    expect(await query(server.url, "SELECT to_regclass('seeded')")).toEqual([null]);
  });

  test('says why it did not start', async () => {
    const taken = await start({ dataDir: await tempFolder() });
    const refused = start({ dataDir: await tempFolder(), port: taken.port });
    await expect(refused).rejects.toThrow(/Address already in use/);
  });
});
