import { Worker, type Transferable } from 'node:worker_threads';
import type { Clock } from './clock.js';

/** The program of a thread. It answers each message with one, in their order. */
export interface ThreadProgram {
  readonly entry: URL;
  /** Options of the runtime; those of the process where absent. */
  readonly execArgv?: readonly string[];
}

export interface ComputeThreadOptions {
  readonly program: ThreadProgram;
  /** The value that the program finds as its `workerData`. */
  readonly data?: unknown;
  readonly heapMaxMb: number;
  /** For one question. */
  readonly answerWithinMs: number;
  readonly clock: Clock;
  /** Told why a thread has ended by itself. */
  readonly onFailure: (error: unknown) => void;
}

/** `time`: the question kept the thread too long. `died`: it ended the thread, or something else did. */
export type ThreadAnswer<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'time' }
  | { readonly kind: 'died' }
  | { readonly kind: 'closed' };

/**
 * A thread for work that would keep the event loop from everybody else. One question at a time: the caller sees to turns.
 * One that ends the thread, or keeps it too long, costs the thread; the next one gets a new one.
 */
export class ComputeThread<Question, Answer> {
  readonly #options: ComputeThreadOptions;
  readonly #closed = new AbortController();
  #worker: Worker | null = null;

  constructor(options: ComputeThreadOptions) {
    this.#options = options;
  }

  /** Never rejects. @param moved memory of the question that is taken away from the caller */
  async ask(question: Question, moved: readonly Transferable[] = []): Promise<ThreadAnswer<Answer>> {
    if (this.#closed.signal.aborted) return { kind: 'closed' };
    const { answerWithinMs, clock } = this.#options;
    const worker = (this.#worker ??= this.#start());
    const { promise, resolve } = Promise.withResolvers<ThreadAnswer<Answer>>();
    const over = new AbortController();
    const onAnswer = (answer: Answer): void => resolve({ kind: 'answer', answer });
    const onExit = (): void => resolve({ kind: this.#closed.signal.aborted ? 'closed' : 'died' });
    worker.once('message', onAnswer).once('exit', onExit);
    void clock.sleep(answerWithinMs, over.signal).then(() => resolve({ kind: 'time' }));
    worker.postMessage(question, moved);
    const outcome = await promise;
    over.abort();
    worker.off('message', onAnswer).off('exit', onExit);
    if (outcome.kind !== 'answer') await this.#drop(worker);
    return outcome;
  }

  /** Of what is under way nothing becomes known. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#drop(this.#worker);
  }

  #start(): Worker {
    const { data, heapMaxMb, onFailure, program } = this.#options;
    const { entry, execArgv } = program;
    const worker = new Worker(entry, {
      resourceLimits: { maxOldGenerationSizeMb: heapMaxMb },
      workerData: data,
      // Nothing of the process's settings is of use to it.
      env: {},
      ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
    });
    // Followed by `exit`, which ends the question; without this listener it would end the process.
    worker.on('error', onFailure);
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
