import { ComputeThread, type Clock, type ThreadAnswer, type ThreadProgram } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { FairMutex } from './fair-mutex.js';
import type { RequestBodyAnswer, RequestBodyAsk } from './read-body.js';

export const REQUEST_BODY_THREAD: ThreadProgram = { entry: new URL('./body-thread.js', import.meta.url) };

export interface LargeRequestBodiesOptions {
  readonly thread: ThreadProgram;
  /** Networks that webhooks may go to besides those that are open to everybody. */
  readonly webhookNetworks: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The costliest body takes half a second of a core, which it may have to share. */
export const READ_MAX_MS = 10_000;
/** Texts of the largest body, several times over: nothing else is made of one. */
const HEAP_MAX_MB = 1_024;

/** Has large bodies read in a thread of their own, one at a time, accounts in turn. */
export class LargeRequestBodies {
  readonly #turns = new FairMutex();
  readonly #thread: ComputeThread<RequestBodyAsk, RequestBodyAnswer>;

  constructor({ clock, logger, thread: program, webhookNetworks }: LargeRequestBodiesOptions) {
    this.#thread = new ComputeThread({
      ...{ program, clock, data: webhookNetworks, heapMaxMb: HEAP_MAX_MB, answerWithinMs: READ_MAX_MS },
      onFailure: (error) => logger.warn('the thread that reads large bodies has ended', { error }),
    });
  }

  /** Never rejects. */
  read(ask: RequestBodyAsk, accountId: string): Promise<ThreadAnswer<RequestBodyAnswer>> {
    return this.#turns.run(accountId, () => this.#thread.ask(ask));
  }

  /** Of what waits or is under way nothing becomes known. */
  close(): Promise<void> {
    return this.#thread.close();
  }
}
