import { readFile, readdir } from 'node:fs/promises';

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

/**
 * Processes whose environment has `variable=value`: what a worker started and moved out of its group, as daemons do.
 * Empty where the machine has no `/proc`.
 */
export async function findByEnvironment(variable: string, value: string): Promise<readonly number[]> {
  const wanted = Buffer.from(`${variable}=${value}\0`);
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => ((await hasVariable(pid, wanted)) ? [pid] : [])));
  return found.flat();
}

async function hasVariable(pid: number, wanted: Buffer): Promise<boolean> {
  try {
    return (await readFile(`/proc/${String(pid)}/environ`)).includes(wanted);
  } catch {
    // Ended meanwhile, or another user's: not a worker of ours either way.
    return false;
  }
}
