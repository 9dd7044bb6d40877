import { Worker } from 'node:worker_threads';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { FairTurns } from './fair-turns.js';
import type { BodyAnswer, BodyAsk } from './read-body.js';

/** The program of the thread. */
export interface BodyThread {
  readonly entry: URL;
  /** Options of the runtime; those of the process where absent. */
  readonly execArgv?: readonly string[];
}

export const BODY_THREAD: BodyThread = { entry: new URL('./body-thread.js', import.meta.url) };

export type LargeReading =
  | BodyAnswer
  | {
      readonly kind: 'unread';
      /** `time` is the body's own doing; of the others nothing is known of the body. */
      readonly sign: 'time' | 'died' | 'closed';
    };

export interface LargeBodiesOptions {
  readonly thread: BodyThread;
  /** Networks that webhooks may go to besides those that are open to everybody. */
  readonly webhookNetworks: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The costliest body takes half a second of a core, which it may have to share. */
export const READ_MAX_MS = 10_000;
/** Texts of the largest body, several times over: nothing else is made of one. */
const HEAP_MAX_MB = 1_024;

/**
 * Has large bodies read in a thread of their own, one at a time, accounts in turn. A body that ends the thread, or
 * keeps it too long, is unread; the next one gets a new thread.
 */
export class LargeBodies {
  readonly #options: LargeBodiesOptions;
  readonly #turns = new FairTurns();
  readonly #closed = new AbortController();
  #worker: Worker | null = null;

  constructor(options: LargeBodiesOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  read(ask: BodyAsk, accountId: string): Promise<LargeReading> {
    return this.#turns.run(accountId, () => this.#read(ask));
  }

  /** Of what waits or is under way nothing becomes known. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#drop(this.#worker);
  }

  async #read(ask: BodyAsk): Promise<LargeReading> {
    if (this.#closed.signal.aborted) return { kind: 'unread', sign: 'closed' };
    const worker = (this.#worker ??= this.#start());
    const { promise, resolve } = Promise.withResolvers<LargeReading>();
    const over = new AbortController();
    const onExit = (): void => resolve({ kind: 'unread', sign: this.#closed.signal.aborted ? 'closed' : 'died' });
    worker.once('message', resolve).once('exit', onExit);
    void this.#options.clock.sleep(READ_MAX_MS, over.signal).then(() => resolve({ kind: 'unread', sign: 'time' }));
    worker.postMessage(ask);
    const reading = await promise;
    over.abort();
    worker.off('message', resolve).off('exit', onExit);
    if (reading.kind === 'unread') await this.#drop(worker);
    return reading;
  }

  #start(): Worker {
    const { logger, thread, webhookNetworks } = this.#options;
    const { entry, execArgv } = thread;
    const worker = new Worker(entry, {
      name: 'bodies',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB },
      workerData: webhookNetworks,
      // Nothing of the router's settings is of use to it.
      env: {},
      ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
    });
    // Followed by `exit`, which ends the reading; without this listener it would end the router.
    worker.on('error', (error) => {
      logger.warn('the thread that reads large bodies has ended', { error });
    });
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    worker.unref();
    return worker;
  }

  async #drop(worker: Worker | null): Promise<void> {
    if (this.#worker === worker) this.#worker = null;
    await worker?.terminate();
  }
}
