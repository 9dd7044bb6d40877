import type { Clock } from '@berth/lifecycle';
import type { ServerExit } from '@berth/servers';
import type { ProcessName } from './dev-file.js';

/** A process that runs until it is stopped or dies. */
export interface Running {
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  stop(): Promise<unknown>;
  /** Asked after its end: its own sentence, if it ended because it cannot be started as it was told to. */
  whyRefused?(): Promise<string | null>;
}

export interface SupervisorOptions {
  readonly clock: Clock;
  /** Tells the person at the terminal. */
  readonly say: (line: string) => void;
  /** Called with each new pid, after the first start too. */
  readonly onPid: (name: ProcessName, pid: number) => Promise<void>;
  /** Called once, when one process died too often or will not start. */
  readonly onGiveUp: (reason: string) => void;
}

const DEATHS_MAX = 10;
const DEATHS_WINDOW_MS = 60_000;
const RESTART_DELAY_MS = 200;
/** Exit code of a process that will not start with what it was given, among other ends. */
const REFUSED = 1;

/** Keeps one process running: starts it again within a second of its death, gives up after ten deaths in a minute. */
export class Supervisor {
  readonly #name: ProcessName;
  readonly #logFile: string;
  readonly #start: () => Promise<Running>;
  readonly #options: SupervisorOptions;
  readonly #deathsAtMs: number[] = [];
  #running: Running | undefined;
  #isStopping = false;
  #hasBeenReady = false;
  #watch: Promise<void> = Promise.resolve();

  constructor(
    name: ProcessName,
    logFile: string,
    process: { readonly start: () => Promise<Running> } & SupervisorOptions,
  ) {
    this.#name = name;
    this.#logFile = logFile;
    this.#start = process.start;
    this.#options = process;
  }

  /** Starts it for the first time. An error here is the caller's: nothing is tried again. */
  async start(): Promise<void> {
    this.#running = await this.#start();
    // Told to stop while it began: nobody else knows of it yet.
    if (this.#isStopping) await this.#running.stop();
    await this.#options.onPid(this.#name, this.#running.pid);
    this.#watch = this.#keepAlive(this.#running);
  }

  /** It has been ready: it can be started as it was told to, and what ends it from here on may pass. */
  markReady(): void {
    this.#hasBeenReady = true;
  }

  /** Stops it for good; safe to call twice, and while it is being started again. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running?.stop();
    await this.#watch;
  }

  async #keepAlive(first: Running): Promise<void> {
    let running: Running | null = first;
    while (running !== null) {
      const exit = await running.exited;
      if (this.#isStopping) return;
      const refusal = this.#hasBeenReady || exit.code !== REFUSED ? null : ((await running.whyRefused?.()) ?? null);
      if (refusal !== null) {
        this.#options.onGiveUp(refusal);
        return;
      }
      running = await this.#replace(describeExit(exit));
    }
  }

  /** Null: stopped, or given up. */
  async #replace(cause: string): Promise<Running | null> {
    let reason = cause;
    while (!this.#isStopping) {
      if (this.#hasDiedTooOften()) return null;
      this.#options.say(`! ${this.#name} ${reason}; starting it again`);
      await this.#options.clock.sleep(RESTART_DELAY_MS);
      try {
        this.#running = await this.#start();
        if (this.#isStopping) await this.#running.stop();
        await this.#options.onPid(this.#name, this.#running.pid);
        return this.#running;
      } catch (error) {
        reason = `did not start (${error instanceof Error ? error.message : String(error)})`;
      }
    }
    return null;
  }

  #hasDiedTooOften(): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    this.#deathsAtMs.push(nowMs);
    while ((this.#deathsAtMs[0] ?? nowMs) < nowMs - DEATHS_WINDOW_MS) this.#deathsAtMs.shift();
    if (this.#deathsAtMs.length < DEATHS_MAX) return false;
    this.#options.onGiveUp(`${this.#name} died ${DEATHS_MAX} times within a minute. Its log: ${this.#logFile}`);
    return true;
  }
}

const describeExit = ({ code, signal }: ServerExit): string =>
  signal === null ? `ended with code ${code ?? 'unknown'}` : `was ended by ${signal}`;
