import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pollUntil } from '../poll-until.js';
import { identifyProcess } from '../processes/process-identity.js';

/** What a server says of itself in the `postmaster.pid` of its data directory. */
export interface PostgresLock {
  readonly pid: number;
  readonly isReady: boolean;
}

const PID_LINE = 0;
const STATUS_LINE = 7;

export const readLock = async (cluster: string): Promise<PostgresLock | undefined> => {
  try {
    const lines = (await readFile(lockFile(cluster), 'utf8')).split('\n');
    return { pid: Number(lines[PID_LINE]), isReady: lines[STATUS_LINE]?.trim() === 'ready' };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

const END_DEADLINE_MS = 15_000;

/**
 * Removes the lock of a server that was killed. PostgreSQL does so itself, except when the pid has since been given to
 * another process of the same user: then it refuses to start, for ever. A server that really runs here (its launcher
 * died before it could note the pid) is ended first.
 */
export const clearStaleLock = async (cluster: string): Promise<void> => {
  const lock = await readLock(cluster);
  if (lock === undefined) return;
  if (await servesHere(lock.pid, cluster)) {
    process.kill(lock.pid, 'SIGINT');
    const hasEnded = async (): Promise<true | undefined> => ((await servesHere(lock.pid, cluster)) ? undefined : true);
    await pollUntil(hasEnded, { what: `the end of PostgreSQL ${String(lock.pid)}`, deadlineMs: END_DEADLINE_MS });
  }
  await rm(lockFile(cluster), { force: true });
};

const servesHere = async (pid: number, cluster: string): Promise<boolean> => {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  return (await identifyProcess(pid))?.commandLine.includes(`-D ${cluster} `) ?? false;
};

const lockFile = (cluster: string): string => join(cluster, 'postmaster.pid');
