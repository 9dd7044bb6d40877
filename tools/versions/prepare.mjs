/**
 * Makes the version before this one ready to run, and prints the folder that it is in. Its own bootstrap installs and builds
 * it, and finds at later calls that nothing is left to do. Of two that begin at once, one makes the folder, and that bootstrap
 * makes the other one wait.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { linkModules } from './linked-modules.mjs';
import { COMMIT, ROOT, whyUnavailable } from './previous.mjs';

const SHELF = join(ROOT, '.cache/previous');
const FOLDER = join(SHELF, COMMIT);
const ARCHIVE_BYTES_MAX = 256 * 2 ** 20;
const EXTRACT_MS = 120_000;
const BOOTSTRAP_MS = 900_000;

class PrepareError extends Error {}

/** What it prints goes to stderr, or comes back: stdout is for the folder alone. */
function run(command, args, { cwd, timeout, ...options }) {
  const stdio = ['pipe', options.isKept ? 'pipe' : 2, 'inherit'];
  const { input } = options;
  const result = spawnSync(command, args, { cwd, timeout, input, stdio, maxBuffer: ARCHIVE_BYTES_MAX });
  if (result.error === undefined && result.status === 0) return result.stdout;
  throw new PrepareError(`${command} ${args[0]} failed: ${result.error?.message ?? `exit code ${result.status}`}`);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** There is one previous version at a time, and what was begun and never ended is nobody's. */
function clearShelf() {
  for (const name of readdirSync(SHELF)) {
    const [commit, pid] = name.split('.');
    if (commit === COMMIT && (pid === undefined || isAlive(Number(pid)))) continue;
    rmSync(join(SHELF, name), { recursive: true, force: true });
  }
}

/** The folder gets its name once all is in it. */
function takeOut() {
  const draft = `${FOLDER}.${process.pid}`;
  mkdirSync(draft);
  const archive = run('git', ['archive', COMMIT], { cwd: ROOT, timeout: EXTRACT_MS, isKept: true });
  run('tar', ['-x'], { cwd: draft, timeout: EXTRACT_MS, input: archive });
  linkModules(ROOT, draft);
  try {
    renameSync(draft, FOLDER);
  } catch (error) {
    // Somebody else was faster.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    rmSync(draft, { recursive: true, force: true });
  }
}

function prepare() {
  const reason = whyUnavailable();
  if (reason !== null) throw new PrepareError(reason);
  mkdirSync(SHELF, { recursive: true });
  clearShelf();
  if (!existsSync(FOLDER)) takeOut();
  run(process.execPath, ['tools/bootstrap/bootstrap.mjs'], { cwd: FOLDER, timeout: BOOTSTRAP_MS });
  console.log(FOLDER);
}

try {
  prepare();
} catch (error) {
  if (!(error instanceof PrepareError)) throw error;
  console.error(`versions: ${error.message}`);
  process.exitCode = 1;
}
