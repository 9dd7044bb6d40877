import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 250;

/** npm names the script that it runs; a bootstrap by hand is its caller's own affair. */
const isRunByNpm = process.env.npm_lifecycle_event !== undefined;

/**
 * Calls `act` with a reason once this run is to end: by a signal, or because npm, which waits for it, is gone. npm hands on
 * SIGINT and SIGTERM only, so its end is looked for.
 */
export function onToldToEnd(act) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => act(signal));
  if (!isRunByNpm) return;
  const starter = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === starter) return;
    clearInterval(look);
    act('npm has ended');
  }, LOOK_EVERY_MS);
  look.unref();
}

/**
 * Whether `npm start -- --help` is what this run is for. npm shows a script's own arguments to that script alone, not to
 * the one before it; but it wears them as its title. Where that cannot be read the answer is no, and the help comes later.
 */
export function isForHelp() {
  if (process.env.npm_lifecycle_event !== 'prestart') return false;
  return /^npm start\b.* (--help|-h)(\s|$)/.test(titleOf(process.ppid));
}

function titleOf(pid) {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
  } catch {
    // Gone meanwhile, or hidden from this user.
    return '';
  }
}
