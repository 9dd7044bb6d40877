import { existsSync, readFileSync } from 'node:fs';
import type { Execution } from '@berth/testing/checker';

interface Line {
  readonly kind: 'started' | 'given';
  readonly jobId: string;
  readonly execution: string;
  readonly pid: number;
  readonly workerId: string;
  readonly atMs: number;
}

export interface DiaryWorker {
  readonly pid: number;
  readonly workerId: string;
}

/** What the diary workers wrote down. */
export class Diary {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  executions(): readonly Execution[] {
    const lines = this.#lines();
    const givenAtMs = new Map(lines.filter(({ kind }) => kind === 'given').map((line) => [line.execution, line.atMs]));
    return lines
      .filter(({ kind }) => kind === 'started')
      .map(({ atMs, execution, jobId }) => ({
        jobId,
        execution,
        startedAtMs: atMs,
        givenAtMs: givenAtMs.get(execution) ?? null,
      }));
  }

  /** Workers that still run, as far as the diary knows them. */
  liveWorkers(): readonly DiaryWorker[] {
    const workers = new Map(this.#lines().map(({ pid, workerId }) => [pid, { pid, workerId }]));
    return [...workers.values()].filter(({ pid }) => isDiaryWorker(pid));
  }

  /** A worker that is killed while it writes leaves half a line. */
  #lines(): readonly Line[] {
    if (!existsSync(this.#path)) return [];
    return readFileSync(this.#path, 'utf8')
      .split('\n')
      .filter((text) => text.endsWith('}'))
      .map((text) => JSON.parse(text) as Line);
  }
}

/** Pids are used again: only a process that really is such a worker may be killed. */
function isDiaryWorker(pid: number): boolean {
  const commandLine = `/proc/${pid}/cmdline`;
  return existsSync(commandLine) && readFileSync(commandLine, 'utf8').includes('worker.mjs');
}
