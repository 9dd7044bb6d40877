import { Worker } from 'node:worker_threads';
import { Permits, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { BodyAnswer, BodyAsk } from './read-posted.js';

/** The program of the thread. */
export interface BodyThread {
  readonly entry: URL;
  /** Options of the runtime; those of the process where absent. */
  readonly execArgv?: readonly string[];
}

export const BODY_THREAD: BodyThread = { entry: new URL('./body-thread.js', import.meta.url) };

export type LargeReading =
  | BodyAnswer
  | { readonly kind: 'unreadable'; readonly sign: 'died' | 'time' }
  /** The agent stops: nothing is known of the body. */
  | { readonly kind: 'closed' };

/** The largest body takes about a second of a core, which it may have to share. */
const READ_MAX_MS = 20_000;
/** What is under way when the agent stops may still end. */
const CLOSE_WAIT_MS = 5_000;
/** Strings of the largest body, several times over. */
const HEAP_MAX_MB = 1_024;

/**
 * Has large bodies read in a thread of their own, one at a time in their order. A body that kills the thread, or keeps
 * it too long, is unreadable; the next one gets a new thread.
 */
export class LargeBodies {
  readonly #thread: BodyThread;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #turns = new Permits(1);
  readonly #closed = new AbortController();
  #worker: Worker | null = null;

  constructor(thread: BodyThread, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#thread = thread;
    this.#clock = clock;
    this.#log = log;
  }

  /** Takes the memory of `ask` away from the caller. Never rejects. */
  read(ask: BodyAsk): Promise<LargeReading> {
    return this.#turns.run(() => this.#read(ask));
  }

  /** Lets what is under way end first, for a short time: a worker does not send again what it has sent. */
  async close(): Promise<void> {
    const ended = this.#turns.run(async () => undefined);
    await Promise.race([ended, this.#clock.sleep(CLOSE_WAIT_MS)]);
    this.#closed.abort();
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  async #read(ask: BodyAsk): Promise<LargeReading> {
    if (this.#closed.signal.aborted) return { kind: 'closed' };
    const worker = (this.#worker ??= this.#start());
    const { promise, resolve } = Promise.withResolvers<LargeReading>();
    const over = new AbortController();
    const onExit = (): void =>
      resolve(this.#closed.signal.aborted ? { kind: 'closed' } : { kind: 'unreadable', sign: 'died' });
    worker.once('message', resolve);
    worker.once('exit', onExit);
    void this.#clock.sleep(READ_MAX_MS, over.signal).then(() => resolve({ kind: 'unreadable', sign: 'time' }));
    const memory = ask.blocks.map(({ buffer }) => buffer);
    worker.postMessage(ask, memory);
    const reading = await promise;
    over.abort();
    worker.off('message', resolve);
    worker.off('exit', onExit);
    if (reading.kind === 'unreadable') await this.#drop(worker);
    return reading;
  }

  #start(): Worker {
    const { entry, execArgv } = this.#thread;
    const worker = new Worker(entry, {
      name: 'bodies',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB },
      // Nothing of the agent's settings is of use to it.
      env: {},
      ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
    });
    // Followed by `exit`, which ends the reading; without this listener it would end the agent.
    worker.on('error', (error) => this.#log.error('The thread that reads large bodies has failed.', { error }));
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    worker.unref();
    return worker;
  }

  async #drop(worker: Worker): Promise<void> {
    if (this.#worker === worker) this.#worker = null;
    await worker.terminate();
  }
}
