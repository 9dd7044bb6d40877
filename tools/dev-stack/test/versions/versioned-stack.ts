import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempFolder, runCommand } from '@berth/servers';
import { eventually } from '@berth/testing';
import { expect } from '@jest/globals';
import type { AppProcessName } from '../../src/app-processes.js';
import { rootsFile, type ProcessRoots } from '../../src/process-roots.js';
import { StartedStack } from '../../src/started-stack.js';
import { PRESENT } from './previous-version.js';

const WAIT = { deadlineMs: 120_000, intervalMs: 100 };
const MIGRATE_MS = 60_000;

/** A stack of which each process runs in the version that the test says. */
export class VersionedStack {
  readonly stack: StartedStack;
  readonly #names: readonly AppProcessName[];
  #roots: ProcessRoots;

  private constructor(stack: StartedStack, roots: ProcessRoots) {
    this.stack = stack;
    this.#roots = roots;
    this.#names = Object.keys(roots) as AppProcessName[];
  }

  /** All of them, and the migration before them, in one version. */
  static async start(
    names: readonly AppProcessName[],
    root: string,
    flags: readonly string[],
  ): Promise<VersionedStack> {
    const folder = await makeTempFolder('berth-versions-');
    const roots: ProcessRoots = Object.fromEntries(names.map((name) => [name, root]));
    writeFileSync(rootsFile(folder.path), JSON.stringify(roots));
    try {
      return new VersionedStack(await StartedStack.start(flags, folder), roots);
    } catch (error) {
      await folder.remove();
      throw error;
    }
  }

  /** The migration of this version, as an operator runs it, beside whatever runs. */
  async migrate(): Promise<void> {
    const { databaseUrl } = this.stack.dev;
    await runCommand(process.execPath, [join(PRESENT, 'apps/management-api/dist/migrate.main.js')], {
      timeoutMs: MIGRATE_MS,
      env: { BERTH_DATABASE_URL: databaseUrl },
    });
  }

  /** Tells the processes to end, as an operator does, and resolves when those that come in their place are ready. */
  async replace(names: readonly AppProcessName[], root: string): Promise<void> {
    this.#roots = { ...this.#roots, ...Object.fromEntries(names.map((name) => [name, root])) };
    writeFileSync(rootsFile(this.stack.home), JSON.stringify(this.#roots));
    await Promise.all(names.map((name) => this.#endAndAwaitNext(name)));
  }

  async #endAndAwaitNext(name: AppProcessName): Promise<void> {
    const before = this.stack.pidOf(name);
    process.kill(before, 'SIGTERM');
    await eventually(async () => {
      expect(this.stack.pidOf(name)).not.toBe(before);
      const { status } = await fetch(`${this.stack.dev.operations[name] ?? ''}/readyz`);
      expect(status).toBe(200);
    }, WAIT);
  }

  /** The repository that each process runs in, as the operating system has it. */
  runningRoots(): ProcessRoots {
    const rootOf = (name: AppProcessName): string => {
      const words = readFileSync(`/proc/${this.stack.pidOf(name)}/cmdline`, 'utf8').split('\0');
      return words.find((word) => word.includes('/apps/'))?.replace(/\/apps\/.*$/, '') ?? '';
    };
    return Object.fromEntries(this.#names.map((name) => [name, rootOf(name)]));
  }

  async end(): Promise<void> {
    await this.stack.stop();
    await this.stack.remove();
  }
}
