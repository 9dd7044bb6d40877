import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useTempFolders } from '@berth/testing/folders';
import { expect, test } from '@jest/globals';
import { saidStreams } from '../../test/said-streams.js';
import { EXIT_STATUS, runProgram } from '../program/index.js';
import { initCommand } from './init-command.js';

const tempFolder = useTempFolders();
const URL_TEXT = 'postgres://me:hunter2@db.example.com/berth?sslmode=verify-full';

async function init(...args: readonly string[]) {
  const { said, streams } = saidStreams();
  const program = { environment: {}, streams, onInterrupt: () => undefined };
  return { status: await runProgram(['init', ...args], [initCommand], program), ...said };
}

const MISUSED = { status: EXIT_STATUS.misused, stdout: '' };

test('a database of one’s own is named by a file, which the command line of no process shows', async () => {
  const [path, file] = [join(await tempFolder(), 'berth'), join(await tempFolder(), 'url')];
  await writeFile(file, `${URL_TEXT}\n`);
  expect(await init(path, '--database-url-file', file)).toMatchObject({ status: EXIT_STATUS.done });
  expect(await readFile(join(path, 'env/controllers.env'), 'utf8')).toContain(`BERTH_DATABASE_URL=${URL_TEXT}\n`);
  expect(await init(path, '--database-url-file', file)).toMatchObject({ status: EXIT_STATUS.done });
  const other = await init(path, '--database-url', 'postgres://me:other@db.example.com/berth');
  expect(other).toMatchObject({ ...MISUSED, stderr: expect.stringContaining('databaseUrl is another one') });
  expect(other.stderr).not.toContain('hunter2');
});

test.each<[string, readonly string[]]>([
  ['a file of the address that is not there', ['--database-url-file', '/nowhere/url']],
  ['two addresses', ['--database-url', URL_TEXT, '--database-url-file', '/nowhere/url']],
  ['an address and a host', ['--database-url', URL_TEXT, '--database-host', 'db']],
  ['a kind that is none', ['--rotate', 'everything', '--step', 'add']],
  ['a kind without a step', ['--rotate', 'issuer']],
  ['two kinds', ['--rotate', 'issuer', '--rotate', 'role-keys', '--step', 'add']],
  ['two steps', ['--rotate', 'issuer', '--step', 'add', '--step', 'switch']],
  ['two hosts of the database', ['--database-host', 'one', '--database-host', 'other']],
])('%s: nothing is made', async (_, args) => {
  const path = join(await tempFolder(), 'berth');
  expect(await init(path, ...args)).toMatchObject(MISUSED);
  await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a folder without a name is not the one where somebody is', async () => {
  expect(await init('')).toMatchObject({ ...MISUSED, stderr: expect.stringContaining('folder has no name') });
});

test('what a rotation does not look at is refused beside it, and nothing is rotated', async () => {
  const path = join(await tempFolder(), 'berth');
  await init(path);
  const record = await readFile(join(path, 'offline/installation.json'), 'utf8');
  for (const args of [['--storage-gib', '20'], ['--broker-host', 'b'], ['--new-first-key'], ['--renew-certificates']]) {
    expect(await init(path, '--rotate', 'issuer', '--step', 'add', ...args)).toMatchObject(MISUSED);
  }
  expect(await readFile(join(path, 'offline/installation.json'), 'utf8')).toBe(record);
});

test('a step names the keys, without giving any away', async () => {
  const path = join(await tempFolder(), 'berth');
  await init(path);
  const { stdout } = await init(path, '--rotate', 'secret-key', '--step', 'add');
  expect(stdout).toMatch(/^current {3}[0-9a-f]{8}$/m);
  expect(stdout).toMatch(/^new {7}[0-9a-f]{8}$/m);
  const again = await init(path, '--rotate', 'secret-key', '--step', 'add', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ rotated: 'secret-key', secrets: [{ state: 'current' }, {}] });
});
