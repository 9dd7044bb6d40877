import { ConfigError, systemClock, type Clock } from '@berth/lifecycle';
import { createLogger, type Logger } from '../logging/logger.js';
import { refusalText } from './refusal.js';
import { Shutdown } from './shutdown.js';
import { StartupError } from './startup-error.js';

/** The part of Node's `process` that a main needs, so that a test can stand in for it. */
export interface ProcessHost {
  on(event: string, listener: (argument: unknown) => void): unknown;
  exit(code: number): unknown;
  readonly stderr: { write(text: string): unknown };
}

/** The things that a `start` function is given. */
export interface Main {
  /** Called when the process ends; what was added last is stopped first. */
  onStop(name: string, stop: () => Promise<void> | void): void;
  /** Gives all of the stopping together so many milliseconds more, or fewer. */
  allowMore(ms: number): void;
  /** From here on the process speaks through this logger. */
  logTo(logger: Logger): void;
  /** Ends the process with exit code 1, in order: for a dependency lost for good. */
  fail(error: unknown): void;
}

export interface RunMainOptions {
  /** For all of the stopping together; 30 s unless given. */
  readonly stopLimitMs?: number;
  readonly clock?: Clock;
  readonly host?: ProcessHost;
}

const STOP_LIMIT_MS = 30_000;

/**
 * The frame around every process: starts it, says in one line what an operator can mend (bad settings, a port that is
 * taken) and exits 1; stops in order on SIGTERM or SIGINT, at once on the second; exits 1 on an error nobody caught.
 */
export async function runMain(
  name: string,
  start: (main: Main) => Promise<void>,
  options: RunMainOptions = {},
): Promise<void> {
  const frame = new MainFrame(name, options);
  frame.listen();
  try {
    await start(frame);
    frame.logger.info('started');
  } catch (error) {
    await frame.refuseToStart(error);
  }
}

class MainFrame implements Main {
  readonly #host: ProcessHost;
  readonly #shutdown: Shutdown;
  readonly #name: string;
  #isStopping = false;
  logger: Logger;

  constructor(name: string, { stopLimitMs = STOP_LIMIT_MS, clock = systemClock, host = process }: RunMainOptions) {
    this.#name = name;
    this.#host = host;
    this.#shutdown = new Shutdown(clock, stopLimitMs);
    this.logger = createLogger({ name, level: 'info', format: 'auto' });
  }

  onStop(name: string, stop: () => Promise<void> | void): void {
    this.#shutdown.add(name, stop);
  }

  allowMore(ms: number): void {
    this.#shutdown.allowMore(ms);
  }

  logTo(logger: Logger): void {
    this.logger = logger;
  }

  fail(error: unknown): void {
    this.logger.fatal('giving up', { error });
    void this.#stop(1);
  }

  listen(): void {
    for (const signal of ['SIGTERM', 'SIGINT']) {
      this.#host.on(signal, () => {
        this.logger.info(`${signal}: stopping`);
        if (this.#isStopping) this.#host.exit(1);
        else void this.#stop(0);
      });
    }
    for (const event of ['unhandledRejection', 'uncaughtException']) {
      this.#host.on(event, (error) => {
        this.logger.fatal(`${event}: this is a defect`, { error });
        this.#host.exit(1);
      });
    }
  }

  async refuseToStart(error: unknown): Promise<void> {
    if (error instanceof ConfigError || error instanceof StartupError) {
      this.#host.stderr.write(refusalText(this.#name, error));
    } else {
      this.logger.fatal('could not start', { error });
    }
    await this.#stop(1);
  }

  async #stop(code: number): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    const isClean = await this.#shutdown.run(this.logger);
    if (code === 0) this.logger.info('stopped');
    this.#host.exit(isClean ? code : 1);
  }
}
