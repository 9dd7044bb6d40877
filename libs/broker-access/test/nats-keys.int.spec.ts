import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useTempFolders } from '@berth/testing/folders';
import { createNatsKeys, loadOrCreateNatsKeys } from '../src/index.js';

const tempFolder = useTempFolders();

test('the keys of a stack are made once, for all who ask at the same time, and only their owner can read them', async () => {
  const path = join(await tempFolder(), 'state', 'nats-keys.json');
  const [one, two] = await Promise.all([loadOrCreateNatsKeys(path), loadOrCreateNatsKeys(path)]);
  expect(two).toEqual(one);
  expect(await loadOrCreateNatsKeys(path)).toEqual(one);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a file with something else in it is an error that names the file', async () => {
  const path = join(await tempFolder(), 'nats-keys.json');
  await writeFile(path, '{"roles":{}}');
  await expect(loadOrCreateNatsKeys(path)).rejects.toThrow(path);
});

test('a file that was written before a role was known keeps its keys and gets those of the role', async () => {
  const path = join(await tempFolder(), 'nats-keys.json');
  const { issuer, roles } = createNatsKeys();
  const { gateway: _, ...older } = roles;
  await writeFile(path, JSON.stringify({ issuer, roles: older }));
  const keys = await loadOrCreateNatsKeys(path);
  expect(keys).toMatchObject({ issuer, roles: older });
  expect(keys.roles.gateway).toMatch(/^SU/);
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(keys);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});
