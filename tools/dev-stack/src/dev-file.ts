import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppName, FurtherProcessName } from './app-processes.js';

/** Name of a process of the stack, as `dev.json` lists it. */
export type ProcessName = SingleProcessName | FurtherProcessName;

type SingleProcessName = 'launcher' | AppName | 'nats-server' | 'postgres';

/** `dev.json`: what a script may rely on while the stack is ready. */
export interface DevFile {
  readonly baseUrl: string;
  /** The first router's. */
  readonly runUrl: string;
  readonly loadBalancerDomain: string;
  readonly apiKey: string;
  readonly runtime: 'docker' | 'process';
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** ISO 8601, UTC. */
  readonly readyAt: string;
  /** In the order of their names: `job-router`, `job-router-2`, … */
  readonly routers: readonly { readonly runUrl: string; readonly pid: number }[];
  /** In the order of their names: `worker-agent`, `worker-agent-2`, … */
  readonly agents: readonly { readonly hostId: string; readonly pid: number }[];
  readonly processes: Readonly<Partial<Record<SingleProcessName, number>> & Record<FurtherProcessName, number>>;
  /** Base addresses of `/healthz`, `/readyz` and `/metrics`. */
  readonly operations: Readonly<Record<string, string>>;
}

const OWNER_ONLY = 0o600;

const devFilePath = (home: string): string => join(home, 'dev.json');

/** Keeps the file up to date, one change after the other: processes that die at once come back at once. */
export class DevFileWriter {
  readonly #home: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(home: string) {
    this.#home = home;
  }

  /** @param describe is asked when it is this change's turn; null: there is nothing to tell, and the file stays as it is */
  write(describe: () => DevFile | null): Promise<void> {
    return this.#inTurn(async () => {
      const content = describe();
      if (content !== null) await writeDevFile(this.#home, content);
    });
  }

  remove(): Promise<void> {
    return this.#inTurn(() => removeDevFile(this.#home));
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#last.then(change);
    // The caller that asked for a change hears why it failed; the next one is made all the same.
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** Replaces the file in one go, so that a reader never sees half of it. It holds a key, so it is the owner's alone. */
async function writeDevFile(home: string, content: DevFile): Promise<void> {
  const draft = `${devFilePath(home)}.new`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: OWNER_ONLY });
  await rename(draft, devFilePath(home));
}

export const removeDevFile = (home: string): Promise<void> => rm(devFilePath(home), { force: true });
