import { readFile, readdir } from 'node:fs/promises';
import { inParallel } from '@berth/lifecycle';

type PidsByMark = ReadonlyMap<string, readonly number[]>;

const FILES_AT_ONCE = 32;
/** The process has ended meanwhile, or is another user's. */
const NOT_OURS: readonly unknown[] = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'];

/**
 * Processes that have a mark in their environment: what a worker started and moved out of its group, as daemons do. A
 * look reads the environment of every process, so all that ask during one share the next.
 */
export class MarkedProcesses {
  readonly #prefix: string;
  #look: Promise<unknown> = Promise.resolve();
  #next: Promise<PidsByMark> | null = null;

  /** @param variable the one whose value is the mark */
  constructor(variable: string) {
    this.#prefix = `${variable}=`;
  }

  /** Those that run after the call; none where the machine has no `/proc`. */
  async of(mark: string): Promise<readonly number[]> {
    this.#next ??= this.#look.then(() => {
      this.#next = null;
      const look = this.#lookNow();
      this.#look = look.catch(() => undefined);
      return look;
    });
    return (await this.#next).get(mark) ?? [];
  }

  async #lookNow(): Promise<PidsByMark> {
    const names = await readdir('/proc').catch(() => []);
    const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
    const marks = await inParallel(pids, FILES_AT_ONCE, (pid) => this.#markOf(pid));
    const found = new Map<string, number[]>();
    for (const [at, pid] of pids.entries()) {
      const mark = marks[at];
      if (mark !== undefined) found.set(mark, [...(found.get(mark) ?? []), pid]);
    }
    return found;
  }

  async #markOf(pid: number): Promise<string | undefined> {
    try {
      const environment = await readFile(`/proc/${String(pid)}/environ`, 'utf8');
      const variable = environment.split('\0').find((text) => text.startsWith(this.#prefix));
      return variable?.slice(this.#prefix.length);
    } catch (error) {
      if (NOT_OURS.includes((error as NodeJS.ErrnoException).code)) return undefined;
      throw error;
    }
  }
}
