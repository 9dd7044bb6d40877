import { readFile } from 'node:fs/promises';

/** Signals every process of the group that `leaderPid` leads. A group that is gone is success. */
export function killGroup(leaderPid: number, signal: NodeJS.Signals): void {
  signalPid(-leaderPid, signal);
}

export function killProcess(pid: number, signal: NodeJS.Signals): void {
  signalPid(pid, signal);
}

function signalPid(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Whether it stands still by SIGSTOP. A machine without `/proc` cannot tell: there it is taken to be so. */
export async function isStopped(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return null;
    throw error;
  });
  // The state follows the program's name, which stands in parentheses and may hold some itself.
  return stat === null || stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}
