import { systemClock } from '@berth/lifecycle';
import type { ProcessName } from '../../src/dev-file.js';
import type { StartedStack } from '../../src/started-stack.js';

const LOOK_MS = 50;
const ANSWER_WITHIN_MS = 1_000;

export interface ReadyAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** What load balancers do: each router is asked again and again whether it is ready. */
export class ReadyRouters {
  readonly #stack: StartedStack;
  readonly #names: readonly ProcessName[];
  readonly #ready = new Set<number>();
  readonly #end = new AbortController();
  readonly #looking: Promise<unknown>;

  constructor(stack: StartedStack, names: readonly ProcessName[]) {
    this.#stack = stack;
    this.#names = names;
    this.#looking = Promise.all(names.map((_, router) => this.#look(router)));
  }

  has(router: number): boolean {
    return this.#ready.has(router);
  }

  /** Null: nobody answers. */
  async ask(router: number): Promise<ReadyAnswer | null> {
    const { operations } = this.#stack.dev;
    try {
      const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
      const answer = await fetch(`${operations[this.#names[router]!]}/readyz`, { signal });
      return { status: answer.status, body: await answer.json() };
    } catch {
      // As where its process is gone.
      return null;
    }
  }

  async end(): Promise<void> {
    this.#end.abort();
    await this.#looking;
  }

  async #look(router: number): Promise<void> {
    while (!this.#end.signal.aborted) {
      const isReady = (await this.ask(router))?.status === 200;
      if (isReady) this.#ready.add(router);
      else this.#ready.delete(router);
      await systemClock.sleep(LOOK_MS, this.#end.signal);
    }
  }
}
