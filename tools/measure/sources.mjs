import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const REPOSITORY = resolve(import.meta.dirname, '../..');
const ROOTS = ['apps', 'libs', 'tools'];
const LEFT_OUT = new Set(['node_modules', 'dist', 'coverage']);

/**
 * @typedef {object} Source one file of TypeScript
 * @property {string} path relative to the repository, with forward slashes
 * @property {string} text
 * @property {'shipped' | 'test' | 'tool'} kind what it is there for
 */

/** @returns {Source['kind']} */
const kindOf = (path) => {
  if (path.startsWith('tools/')) return 'tool';
  return isTest(path) ? 'test' : 'shipped';
};

const isTest = (path) =>
  /\.(spec|conformance)\.ts$/.test(path) ||
  path.startsWith('libs/testing/') ||
  /^(apps|libs)\/[^/]+\/test\//.test(path);

/** @returns {Promise<readonly Source[]>} every source of the apps, libraries and tools below a folder */
async function sourcesBelow(folder) {
  const found = [];
  for (const root of ROOTS) {
    for (const entry of await readdir(join(folder, root), { recursive: true, withFileTypes: true })) {
      const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/');
      if (!entry.isFile() || !/\.(ts|mjs)$/.test(path) || path.endsWith('.d.ts')) continue;
      if (path.split('/').some((part) => LEFT_OUT.has(part))) continue;
      found.push({ path, text: await readFile(join(folder, path), 'utf8'), kind: kindOf(path) });
    }
  }
  return found;
}

/** Of the working tree. */
export const sourcesNow = () => sourcesBelow(REPOSITORY);

/** Of a commit, by any name that git knows. */
export async function sourcesAt(revision) {
  const folder = await mkdtemp(join(tmpdir(), 'berth-measure-'));
  try {
    const archive = join(folder, 'tree.tar');
    await run('git', ['archive', '--output', archive, revision, ...ROOTS], { cwd: REPOSITORY });
    await run('tar', ['--extract', '--file', archive, '--directory', folder]);
    return await sourcesBelow(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
