import { readdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const REPOSITORY = resolve(import.meta.dirname, '../../..');
const pageOf = (path: string): Promise<string> => readFile(resolve(REPOSITORY, path), 'utf8');

test('every runbook is named on the page of who runs Berth', async () => {
  const page = await pageOf('docs/production.md');
  const runbooks = await readdir(resolve(REPOSITORY, 'docs/runbooks'));
  expect(runbooks.filter((name) => !page.includes(`](runbooks/${name})`))).toEqual([]);
});

test('three brokers of Docker Compose leave half of the disk that the page asks for', async () => {
  const page = await pageOf('deploy/compose/README.md');
  const diskGb = Number(/(\d+) GB of free disk/.exec(page)?.[1]);
  const inits = page.match(/run --rm berth init \/etc\/berth --brokers 3 .*/g) ?? [];
  expect(inits).toHaveLength(2);
  for (const init of inits) {
    const brokerGib = Number(/--storage-gib (\d+)/.exec(init)?.[1]);
    expect([init, 3 * brokerGib <= diskGb / 2]).toEqual([init, true]);
  }
});
