import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { runCommand } from './run-command.js';

/**
 * Tells one process from another that was later given the same pid.
 * A pid alone is not enough: a program that ends "the process of the pid file" would sooner or later end a stranger.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** When the kernel started it: boot and ticks since (Linux) or a date (elsewhere); only equality means something. */
  readonly startedAt: string;
  readonly commandLine: string;
}

/** False for a process that has ended, whether or not its parent has collected it. */
export const isRunning = async (pid: number): Promise<boolean> => (await identifyProcess(pid)) !== undefined;

/** `undefined` when no such process runs. */
export const identifyProcess = (pid: number): Promise<ProcessIdentity | undefined> =>
  platform() === 'linux' ? identifyFromProc(pid) : identifyFromPs(pid);

const STATE_FIELD = 0;
const START_TICKS_FIELD = 19;

const identifyFromProc = async (pid: number): Promise<ProcessIdentity | undefined> => {
  const [stat, commandLine, boot = ''] = await Promise.all([
    readOrUndefined(`/proc/${String(pid)}/stat`),
    readOrUndefined(`/proc/${String(pid)}/cmdline`),
    readOrUndefined('/proc/sys/kernel/random/boot_id'),
  ]);
  if (stat === undefined || commandLine === undefined) return undefined;
  // The program's name stands in parentheses and may itself hold spaces and parentheses: count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[STATE_FIELD] === 'Z' || fields[STATE_FIELD] === 'X') return undefined;
  const startedAt = `${boot.trim()}/${fields[START_TICKS_FIELD] ?? ''}`;
  return { pid, startedAt, commandLine: commandLine.replaceAll('\0', ' ').trim() };
};

const PS_TIMEOUT_MS = 5_000;
const PS_DATE_CHARS = 24;

const identifyFromPs = async (pid: number): Promise<ProcessIdentity | undefined> => {
  try {
    const line = await runCommand('ps', ['-o', 'lstart=,command=', '-p', String(pid)], { timeoutMs: PS_TIMEOUT_MS });
    const text = line.trim();
    return { pid, startedAt: text.slice(0, PS_DATE_CHARS), commandLine: text.slice(PS_DATE_CHARS).trim() };
  } catch {
    // `ps -p` fails when there is no such process: that is the answer.
    return undefined;
  }
};

const readOrUndefined = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // ESRCH: the process ended between opening and reading.
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
};
