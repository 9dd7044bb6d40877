import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { runCommand } from '@berth/servers';
import { useTempFolders } from '@berth/testing/folders';
import { expect, test } from '@jest/globals';

const BUNDLE = resolve('tools/bundle/bundle.mjs');
const TIMEOUT_MS = 30_000;
const makeFolder = useTempFolders();

const FILES = {
  'package.json': '{ "type": "module" }',
  'app/package.json': '{ "type": "module" }',
  'app/dist/main.js': `
    import { page, Named } from './pages/page.js';
    import { folder } from 'old-kind';
    import { other, Named as Second } from 'lazy';
    console.log(JSON.stringify({ page, folder, names: [Named.name, Second.name], missing: await other().catch(({ code }) => code) }));`,
  'app/dist/pages/page.js': `
    import { readFileSync } from 'node:fs';
    export const page = readFileSync(new URL('page.txt', import.meta.url), 'utf8');
    export class Named {}`,
  'app/dist/pages/page.txt': 'beside its module',
  'node_modules/old-kind/package.json': '{ "main": "lib/index.js", "module": "lib/other.js" }',
  'node_modules/old-kind/lib/index.js': 'exports.folder = __dirname;',
  'node_modules/old-kind/lib/other.js': 'export const folder = "of a bundler";',
  'node_modules/lazy/package.json': '{ "type": "module", "main": "index.js" }',
  'node_modules/lazy/index.js': `export const other = () => import('nobody-has-it'); class Named {} export { Named };`,
};

test('a program in one file finds what lies beside its modules, and misses what nobody has when it asks', async () => {
  const root = await makeFolder();
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  await runCommand(process.execPath, [BUNDLE, join(root, 'app')], { timeoutMs: TIMEOUT_MS });
  const said = await runCommand(process.execPath, [join(root, 'app/dist/main.js')], { timeoutMs: TIMEOUT_MS });
  expect(JSON.parse(said)).toEqual({
    page: 'beside its module',
    folder: join(root, 'node_modules/old-kind/lib'),
    names: ['Named', 'Named'],
    missing: 'ERR_MODULE_NOT_FOUND',
  });
});
