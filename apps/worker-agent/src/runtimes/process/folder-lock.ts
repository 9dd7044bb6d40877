import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { identifyProcess, isAlive, type Clock, type ProcessIdentity, type Random } from '@berth/lifecycle';
import { RuntimeError, throwIfCancelled } from '../runtime-error.js';
import { killGroup } from './process-group.js';

export interface FolderLockOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Longest wait for its holder. */
  readonly waitMaxMs: number;
  readonly signal: AbortSignal | undefined;
}

interface LockRecord {
  readonly holder: ProcessIdentity;
  /** What the holder runs at present; it goes on when the holder is killed. */
  readonly command: ProcessIdentity | null;
}

const POLL_MS = 100;

/**
 * Lets one agent at a time work on a folder, over all agents on the machine: two stacks may share their images.
 * The holder may be killed at any point: the next one sees that it is dead, ends the command that it left behind, and
 * takes over.
 */
export class FolderLock {
  readonly #options: FolderLockOptions;
  readonly #holder: ProcessIdentity;

  private constructor(options: FolderLockOptions, holder: ProcessIdentity) {
    this.#options = options;
    this.#holder = holder;
  }

  /** @throws RuntimeError `setup-failed` when it is still held after `waitMaxMs`; `cancelled` */
  static async acquire(options: FolderLockOptions): Promise<FolderLock> {
    const holder = await identifyProcess(process.pid);
    if (holder === null) throw new Error('this process does not find itself');
    const deadlineMs = options.clock.monotonicMs() + options.waitMaxMs;
    const lock = new FolderLock(options, holder);
    while (!(await lock.#take())) {
      throwIfCancelled(options.signal);
      if (options.clock.monotonicMs() > deadlineMs) {
        throw new RuntimeError('setup-failed', `${options.path} is still held by another setup.`);
      }
      await lock.#evictDead();
      await options.clock.sleep(POLL_MS, options.signal);
    }
    return lock;
  }

  /** Notes which command runs under the lock, so that nobody starts a second one beside it. */
  async note(command: ProcessIdentity | null): Promise<void> {
    await rename(await this.#write(command), this.#options.path);
  }

  async release(): Promise<void> {
    await rm(this.#options.path, { force: true });
  }

  /** A link fails when the name is there, and shows the whole record at once when it is not. */
  async #take(): Promise<boolean> {
    const written = await this.#write(null);
    try {
      await link(written, this.#options.path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(written, { force: true });
    }
  }

  async #write(command: ProcessIdentity | null): Promise<string> {
    const path = this.#asidePath();
    const record: LockRecord = { holder: this.#holder, command };
    await writeFile(path, JSON.stringify(record));
    return path;
  }

  /**
   * Moves a dead holder's record aside before it is judged: two waiters that saw the same dead holder cannot both
   * succeed, and what turns out to be alive is put back.
   */
  async #evictDead(): Promise<void> {
    const seen = await readRecord(this.#options.path);
    if (seen === null || (await isAlive(seen.holder))) return;
    const aside = this.#asidePath();
    try {
      await rename(this.#options.path, aside);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    const moved = await readRecord(aside);
    if (moved !== null && (await isAlive(moved.holder))) {
      await link(aside, this.#options.path).catch(() => undefined);
    } else if (moved?.command != null && (await isAlive(moved.command))) {
      killGroup(moved.command.pid, 'SIGKILL');
    }
    await rm(aside, { force: true });
  }

  #asidePath(): string {
    return `${this.#options.path}.${this.#options.random.id(12)}`;
  }
}

/** Null when it is gone, or no record: what cannot be read was not written by a lock. */
async function readRecord(path: string): Promise<LockRecord | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as LockRecord;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
