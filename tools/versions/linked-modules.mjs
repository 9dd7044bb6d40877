import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const LOCK = 'package-lock.json';
const MODULES = 'node_modules';
/** What npm says there that it has installed. It is written anew in its place, which must not be two places. */
const HIDDEN_LOCK = '.package-lock.json';
/** What tools keep there for themselves. */
const CACHE = '.cache';

const textOf = (...parts) => readFileSync(join(...parts), 'utf8');

/**
 * Gives a checkout the packages that this one has, as links to the same files, where both ask for the very same ones: that
 * takes seconds and no room. Where they differ, or lie on another disk, nothing is done, and npm installs them.
 */
export function linkModules(from, to) {
  if (textOf(from, LOCK) !== textOf(to, LOCK)) return;
  try {
    for (const folder of foldersOf(from)) linkTree(join(from, folder), join(to, folder));
  } catch (error) {
    if (error.code !== 'EXDEV') throw error;
    for (const folder of foldersOf(from)) rmSync(join(to, folder), { recursive: true, force: true });
  }
}

/** Those of the root, and of each package that has some of its own. */
function foldersOf(root) {
  const groups = ['apps', 'libs', 'tools'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(group, name, MODULES)),
  );
  return [MODULES, ...groups].filter((folder) => existsSync(join(root, folder)));
}

/** Links of packages to each other are relative, so they lead to the packages of the checkout that they are in. */
function linkTree(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name === CACHE) continue;
    if (entry.isDirectory()) linkTree(source, target);
    else if (entry.name === HIDDEN_LOCK) copyFileSync(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkSync(source, target);
  }
}
