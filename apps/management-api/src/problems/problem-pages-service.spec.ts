import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ProblemPagesService } from './problem-pages-service.js';

test('a page is read and rendered once, however often it is asked for', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-pages-'));
  await writeFile(join(folder, 'rate-limited.md'), '# Rate limit exceeded\n');
  const pages = new ProblemPagesService(folder);
  const first = await pages.page('rate-limited');
  await rm(folder, { recursive: true });
  const second = await pages.page('rate-limited');
  expect(second.text).toBe(first.text);
  expect(second.html).toBe(first.html);
  expect(first.text.toString()).toBe('# Rate limit exceeded\n');
  expect(first.html.toString()).toContain('<h1>Rate limit exceeded</h1>');
});
