import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, type FileHandle } from 'node:fs/promises';
import { systemClock } from '@berth/lifecycle';
import { readLogTail } from './log-tail.js';
import { parentWatch } from './parent-watch.js';
import { removePidFile, writePidFile } from './pid-file.js';
import type { ProcessOwner } from './run-command.js';

export interface ServerCommand {
  /** As it stands in messages: `nats-server`. */
  readonly name: string;
  readonly executable: string;
  readonly args: readonly string[];
  /** Working folder. */
  readonly folder: string;
  /** Both outputs are appended here; a file, because a pipe would break when the parent dies. */
  readonly logFile: string;
  /** Written at the start, removed at the end; see `stopLeftover`. */
  readonly pidFile: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly owner?: ProcessOwner;
  /** Asks the server to end in good order; also sent to it when this process dies. */
  readonly stopSignal: NodeJS.Signals;
}

export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A server that ended before it was ready, or could not be started at all. */
export class ServerStartError extends Error {
  override readonly name = 'ServerStartError';
}

interface StartedChild {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  /** Where this run's lines begin in the log, in bytes. */
  readonly logStart: number;
}

const STOP_DEADLINE_DEFAULT_MS = 10_000;

/** A child process that runs until it is told to stop. Its end, wanted or not, resolves {@link exited}. */
export class ServerProcess {
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  readonly #command: ServerCommand;
  readonly #child: ChildProcess;
  readonly #logStart: number;

  constructor(command: ServerCommand, started: StartedChild) {
    this.#command = command;
    this.#child = started.child;
    this.#logStart = started.logStart;
    this.pid = started.pid;
    this.exited = started.exited;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Ends it in good order, or with SIGKILL after the deadline. Safe to call twice. */
  async stop(deadlineMs = STOP_DEADLINE_DEFAULT_MS): Promise<ServerExit> {
    this.signal(this.#command.stopSignal);
    const patience = new AbortController();
    const hasEnded = await Promise.race([
      this.exited.then(() => true),
      systemClock.sleep(deadlineMs, patience.signal).then(() => false),
    ]);
    patience.abort();
    return hasEnded ? this.exited : this.kill();
  }

  /** Ends it as a crash would. */
  kill(): Promise<ServerExit> {
    this.signal('SIGKILL');
    return this.exited;
  }

  /** Sends a signal, unless it has ended: its pid may then be somebody else's. */
  signal(signal: NodeJS.Signals): void {
    this.#child.ref();
    this.#child.kill(signal);
  }

  /** What it printed last, both outputs; nothing of earlier runs. */
  lastWords(): Promise<string> {
    return readLogTail(this.#command.logFile, this.#logStart);
  }

  /** An error that says how it ended and what it printed last. */
  async startError(): Promise<ServerStartError> {
    const tail = await this.lastWords();
    const how = this.isRunning
      ? 'is not ready'
      : `ended with ${this.#child.signalCode ?? `code ${String(this.#child.exitCode)}`}`;
    return new ServerStartError(`${this.#command.name} ${how}. Last lines of ${this.#command.logFile}:\n${tail}`);
  }
}

/**
 * Starts a server in a session of its own, so that Ctrl-C in a terminal reaches only the parent.
 * It ends when its parent dies, however that dies (see `parent-watch.ts`).
 *
 * @throws ServerStartError when the program cannot be executed
 */
export const spawnServer = async (command: ServerCommand): Promise<ServerProcess> => {
  const log = await open(command.logFile, 'a');
  try {
    return await spawnInto(log, command);
  } finally {
    await log.close();
  }
};

const spawnInto = async (log: FileHandle, command: ServerCommand): Promise<ServerProcess> => {
  const logStart = (await log.stat()).size;
  const child = spawn(command.executable, command.args, {
    cwd: command.folder,
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
    ...(command.env === undefined ? {} : { env: command.env }),
    ...command.owner,
  });
  const exited = once(child, 'exit').then((): ServerExit => ({ code: child.exitCode, signal: child.signalCode }));
  if (child.pid === undefined) {
    const cause: unknown = await exited.catch((error: unknown) => error);
    throw new ServerStartError(`${command.name} could not be started from ${command.executable}.`, { cause });
  }
  const pid = child.pid;
  // A server forgotten by a test must not keep the test process alive: the parent watch ends it.
  child.unref();
  parentWatch.endProcess(pid, command.stopSignal);
  await writePidFile(command.pidFile, pid);
  const tidied = exited.then(async (exit) => {
    parentWatch.spareProcess(pid, command.stopSignal);
    await removePidFile(command.pidFile);
    return exit;
  });
  return new ServerProcess(command, { child, pid, exited: tidied, logStart });
};
