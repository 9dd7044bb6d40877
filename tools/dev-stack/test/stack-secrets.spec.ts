import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { loadOrCreateSecrets } from '../src/stack-secrets.js';

let home = '';

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'berth-home-'));
});

afterEach(() => rm(home, { recursive: true }));

test('the secrets of a home are made once, and readable by their owner only', async () => {
  const made = await loadOrCreateSecrets(home);
  expect(Buffer.from(made.secretKey, 'base64')).toHaveLength(32);
  expect(await loadOrCreateSecrets(home)).toEqual(made);
  const file = join(home, 'secrets/stack.json');
  expect(await readFile(file, 'utf8')).toContain(made.secretKey);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(home, 'secrets'))).mode & 0o777).toBe(0o700);
});
