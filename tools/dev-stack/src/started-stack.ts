import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '@berth/lifecycle';
import { DeadlineError, makeTempFolder, parentWatch, pollUntil, type TempFolder } from '@berth/servers';
import type { DevFile, ProcessName } from './dev-file.js';

const REPOSITORY = resolve(import.meta.dirname, '../../..');
/** A little more than what the launcher itself gives each of its processes. */
const READY_DEADLINE_MS = 11 * 60_000;
const SILENCE_MAX_MS = 90_000;
const STOP_DEADLINE_MS = 45_000;

/** A whole stack of its own, started the way `npm start` starts it. */
export class StartedStack {
  readonly #folder: TempFolder;
  readonly #child: ChildProcess;
  #output = '';

  private constructor(folder: TempFolder, child: ChildProcess) {
    this.#folder = folder;
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text: Buffer) => {
        this.#output += text.toString();
      });
    }
    this.#endWithParent();
  }

  /** @param flags after those that keep it apart from every other stack */
  static async start(flags: readonly string[], folder?: TempFolder): Promise<StartedStack> {
    const home = folder ?? (await makeTempFolder('berth-stack-'));
    const entry = join(REPOSITORY, 'tools/dev-stack/dist/main.js');
    const child = spawn(process.execPath, [entry, '--home', home.path, '--ports', 'auto', ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: REPOSITORY,
    });
    const stack = new StartedStack(home, child);
    try {
      await stack.#waitUntilReady();
    } catch (error) {
      // Why it did not start is the news; that it does not stop either would hide it.
      await stack.stop().catch(() => child.kill('SIGKILL'));
      if (folder === undefined) await home.remove();
      throw error;
    }
    return stack;
  }

  get home(): string {
    return this.#folder.path;
  }

  /** For a next start with the same state. */
  get folder(): TempFolder {
    return this.#folder;
  }

  /** All that the launcher printed so far. */
  get output(): string {
    return this.#output;
  }

  get dev(): DevFile {
    return JSON.parse(readFileSync(join(this.home, 'dev.json'), 'utf8')) as DevFile;
  }

  pidOf(name: ProcessName): number {
    const pid = this.dev.processes[name];
    if (pid === undefined) throw new Error(`dev.json names no ${name}`);
    return pid;
  }

  /** As Ctrl-C; returns the exit code. */
  async stop(): Promise<number | null> {
    if (!this.#hasEnded()) this.#child.kill('SIGTERM');
    await pollUntil(() => Promise.resolve(this.#hasEnded() ? true : undefined), {
      what: `the launcher's end. It said:\n${this.#output}`,
      deadlineMs: STOP_DEADLINE_MS,
    });
    return this.#child.exitCode;
  }

  async remove(): Promise<void> {
    await this.#folder.remove();
  }

  /** A test run that is killed must not leave a whole stack behind. */
  #endWithParent(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    parentWatch.endProcess(pid, 'SIGTERM');
    this.#child.once('exit', () => {
      parentWatch.spareProcess(pid, 'SIGTERM');
    });
  }

  async #waitUntilReady(): Promise<void> {
    let heardAtMs = systemClock.monotonicMs();
    let heard = 0;
    await pollUntil(
      () => {
        if (this.#hasEnded()) throw new Error(`the launcher ended:\n${this.#output}`);
        const nowMs = systemClock.monotonicMs();
        if (this.#output.length > heard) heardAtMs = nowMs;
        heard = this.#output.length;
        if (nowMs - heardAtMs >= SILENCE_MAX_MS) throw new DeadlineError(`the launcher says no more:\n${this.#output}`);
        return Promise.resolve(this.#hasDevFile() ? true : undefined);
      },
      { what: 'a ready stack', deadlineMs: READY_DEADLINE_MS },
    );
  }

  #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #hasDevFile(): boolean {
    try {
      // One that was killed leaves its file behind; only this launcher's counts.
      return this.dev.processes.launcher === this.#child.pid;
    } catch {
      // Not written yet: that is what is being waited for.
      return false;
    }
  }
}
