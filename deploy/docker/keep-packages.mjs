/**
 * Rewrites `package.json` in this folder, so that an install takes what images need and the lock file still decides on every
 * version: the packages of `apps` and `libs`, and of the development packages at the root only the compiler.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const COMPILER = ['@swc/cli', '@swc/core', 'esbuild'];
const { devDependencies, workspaces, ...rest } = JSON.parse(readFileSync('package.json', 'utf8'));
const kept = {
  ...rest,
  workspaces: workspaces.filter((pattern) => !pattern.startsWith('tools/')),
  dependencies: Object.fromEntries(COMPILER.map((name) => [name, devDependencies[name]])),
};
writeFileSync('package.json', `${JSON.stringify(kept, undefined, 2)}\n`);
