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
