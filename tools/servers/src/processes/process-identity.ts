import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { identifyProcess as identify, type ProcessIdentity as Identity } from '@berth/lifecycle';
import { runCommand } from './run-command.js';

/** A process, and what it was started as, for people and for what is known by its command line alone. */
export interface ProcessIdentity extends Identity {
  readonly commandLine: string;
}

/** False for a process that has ended, whether or not its parent has collected it. */
export const isRunning = async (pid: number): Promise<boolean> => (await identify(pid)) !== null;

/** `undefined` when no such process runs. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  const identity = await identify(pid);
  const commandLine = identity === null ? undefined : await commandLineOf(pid);
  return identity === null || commandLine === undefined ? undefined : { ...identity, commandLine };
}

const PS_TIMEOUT_MS = 5_000;

const commandLineOf = (pid: number): Promise<string | undefined> =>
  platform() === 'linux' ? commandLineFromProc(pid) : commandLineFromPs(pid);

async function commandLineFromProc(pid: number): Promise<string | undefined> {
  try {
    return (await readFile(`/proc/${String(pid)}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ESRCH: the process ended between opening and reading.
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}

async function commandLineFromPs(pid: number): Promise<string | undefined> {
  try {
    return (await runCommand('ps', ['-o', 'command=', '-p', String(pid)], { timeoutMs: PS_TIMEOUT_MS })).trim();
  } catch {
    // `ps -p` fails when there is no such process: that is the answer.
    return undefined;
  }
}
