import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { DeadlineError, pollUntil } from '../poll-until.js';
import { identifyProcess, type ProcessIdentity } from './process-identity.js';

/** Records which process serves here. Does nothing when the process has already ended. */
export const writePidFile = async (path: string, pid: number): Promise<void> => {
  const identity = await identifyProcess(pid);
  if (identity === undefined) return;
  const draft = `${path}.${String(pid)}.new`;
  await writeFile(draft, JSON.stringify(identity));
  await rename(draft, path);
};

export const removePidFile = (path: string): Promise<void> => rm(path, { force: true });

/** `none`: no file or no such process; `foreign`: the pid now belongs to something else, which was left alone. */
export type LeftoverOutcome = 'none' | 'foreign' | 'ended';

export interface StopLeftoverOptions {
  /** Asks for an end in good order; SIGKILL follows after the deadline. */
  readonly signal?: NodeJS.Signals;
  readonly deadlineMs?: number;
}

const DEADLINE_DEFAULT_MS = 10_000;
const KILL_DEADLINE_MS = 5_000;

/**
 * Ends what an earlier run left behind, if the process of the pid file is still that very process: same pid, same start.
 * Removes the file in every case.
 *
 * @throws DeadlineError when the process outlives SIGKILL by 5 s
 */
export const stopLeftover = async (pidFile: string, options: StopLeftoverOptions = {}): Promise<LeftoverOutcome> => {
  const recorded = await readPidFile(pidFile);
  const outcome = recorded === undefined ? 'none' : await endRecorded(recorded, options);
  await removePidFile(pidFile);
  return outcome;
};

/** The process of the pid file, if it still is that very process. */
export const findRecorded = async (pidFile: string): Promise<ProcessIdentity | undefined> => {
  const recorded = await readPidFile(pidFile);
  const found = recorded === undefined ? undefined : await identifyProcess(recorded.pid);
  return recorded !== undefined && found !== undefined && isSame(recorded, found) ? found : undefined;
};

const endRecorded = async (recorded: ProcessIdentity, options: StopLeftoverOptions): Promise<LeftoverOutcome> => {
  const found = await identifyProcess(recorded.pid);
  if (found === undefined) return 'none';
  if (!isSame(recorded, found)) return 'foreign';
  signalIfThere(recorded.pid, options.signal ?? 'SIGTERM');
  try {
    await waitForEnd(recorded, options.deadlineMs ?? DEADLINE_DEFAULT_MS);
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error;
    signalIfThere(recorded.pid, 'SIGKILL');
    await waitForEnd(recorded, KILL_DEADLINE_MS);
  }
  return 'ended';
};

const waitForEnd = (recorded: ProcessIdentity, deadlineMs: number): Promise<true> =>
  pollUntil(
    async () => {
      const found = await identifyProcess(recorded.pid);
      return found === undefined || !isSame(recorded, found) ? true : undefined;
    },
    { what: `the end of process ${String(recorded.pid)} (${recorded.commandLine})`, deadlineMs },
  );

/** Its command line does not count: a wrapper that turns into its program changes it, and one that exits has none. */
const isSame = (one: ProcessIdentity, other: ProcessIdentity): boolean =>
  one.pid === other.pid && one.startedAt === other.startedAt;

const signalIfThere = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

const readPidFile = async (path: string): Promise<ProcessIdentity | undefined> => {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return parseIdentity(text);
};

// The file is written by rename, so a text that does not parse was written by somebody else: then there is nothing to end.
const parseIdentity = (text: string): ProcessIdentity | undefined => {
  try {
    const value = JSON.parse(text) as Partial<ProcessIdentity> | null;
    const { pid, startedAt, commandLine } = value ?? {};
    if (typeof pid !== 'number' || typeof startedAt !== 'string' || typeof commandLine !== 'string') return undefined;
    return { pid, startedAt, commandLine };
  } catch {
    return undefined;
  }
};
