import { execFile, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { expect, test } from '@jest/globals';
import { LAUNCH_SCRIPT } from './launch-script.js';

const newFolder = useTempFolders();

/**
 * The first wait as a signal leaves it that comes while the program ends: the shell has heard of the end, by waiting for
 * `cat`, and the wait says only that it was interrupted. A real signal meets that instant by chance alone.
 */
const INTERRUPTED_WAIT = `
wait() {
  unset -f wait
  cat "$state/interrupt"
  return 143
}
`;

const PROGRAM = 'printf %s "$$" >"$0/program" && mv "$0/program" "$0/pid"; exit 7';

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' });
    return false;
  }
}

test('the code of a program is kept that ends while its shell is asked to stop it', async () => {
  const state = await newFolder();
  const interrupt = join(state, 'interrupt');
  await promisify(execFile)('mkfifo', [interrupt]);
  const script = `${INTERRUPTED_WAIT}${LAUNCH_SCRIPT}`;
  const shell = spawn('/bin/sh', ['-c', script, 'berth-worker', state, '/bin/sh', '-c', PROGRAM, state], {
    stdio: 'ignore',
    detached: true,
  });
  const ended = new Promise((resolve) => shell.once('exit', resolve));
  try {
    await eventually(async () => {
      expect(isThere(Number(await readFile(join(state, 'pid'), 'utf8')))).toBe(false);
    });
    await writeFile(interrupt, '');
    await eventually(async () => {
      expect(await readFile(join(state, 'exit'), 'utf8')).toBe('7\n');
    });
  } finally {
    // All of its group: it leads one of its own, and has ended it itself when all went well.
    if (shell.pid !== undefined && shell.exitCode === null && shell.signalCode === null) {
      process.kill(-shell.pid, 'SIGKILL');
    }
    await ended;
  }
});
