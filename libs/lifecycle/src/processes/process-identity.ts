import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * Tells one process from another that was later given the same pid. A program that signals a bare pid will sooner or later
 * hit a stranger.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Boot and start ticks (Linux) or the start date (elsewhere); only equality means something. */
  readonly startedAt: string;
}

/** Null when no such process runs; one that has ended and was not collected yet does not run. */
export const identifyProcess = (pid: number): Promise<ProcessIdentity | null> =>
  process.platform === 'linux' ? identifyFromProc(pid) : identifyFromPs(pid);

export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await identifyProcess(identity.pid))?.startedAt === identity.startedAt;
}

const STATE_FIELD = 0;
const START_TICKS_FIELD = 19;

/**
 * Reads what a process wrote of itself: its pid on a line, then boot id and `/proc/PID/stat`, or a start date.
 * Null when that is not whole.
 */
export function parseIdentity(text: string): ProcessIdentity | null {
  const [first = '', second, third] = text.trimEnd().split('\n');
  const pid = Number(first);
  if (!Number.isInteger(pid) || pid <= 1 || second === undefined || !text.endsWith('\n')) return null;
  return third === undefined ? { pid, startedAt: second.trim() } : fromStat(pid, second, third);
}

async function identifyFromProc(pid: number): Promise<ProcessIdentity | null> {
  const stat = await readIfThere(`/proc/${String(pid)}/stat`);
  return stat === null ? null : fromStat(pid, await bootId(), stat);
}

function fromStat(pid: number, boot: string, stat: string): ProcessIdentity | null {
  // The program's name stands in parentheses and may hold spaces and parentheses itself: count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[STATE_FIELD];
  const ticks = fields[START_TICKS_FIELD];
  if (state === 'Z' || state === 'X' || ticks === undefined) return null;
  // Ticks count from boot, so after a reboot an old record could fit a stranger.
  return { pid, startedAt: `${boot}/${ticks}` };
}

const bootId = async (): Promise<string> => ((await readIfThere('/proc/sys/kernel/random/boot_id')) ?? '').trim();

const PS_TIMEOUT_MS = 5_000;

async function identifyFromPs(pid: number): Promise<ProcessIdentity | null> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], {
      timeout: PS_TIMEOUT_MS,
    });
    const startedAt = stdout.trim();
    return startedAt === '' ? null : { pid, startedAt };
  } catch (error) {
    // `ps -p` ends with 1 when there is no such process: that is the answer.
    if ((error as { readonly code?: unknown }).code === 1) return null;
    throw error;
  }
}

/** Null when the file, or the process that it stands for, is gone. */
async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}
