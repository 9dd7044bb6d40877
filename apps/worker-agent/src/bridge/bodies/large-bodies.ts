import { ComputeThread, Semaphore, type Clock, type ThreadProgram } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { BodyAnswer, BodyAsk } from './read-posted.js';

export const BODY_THREAD: ThreadProgram = { entry: new URL('./body-thread.js', import.meta.url) };

/** `closed`: the agent stops, and nothing is known of the body. The others are the body's own doing. */
export type LargeReading =
  BodyAnswer | { readonly kind: 'time' } | { readonly kind: 'died' } | { readonly kind: 'closed' };

/** The largest body takes about a second of a core, which it may have to share. */
const READ_MAX_MS = 20_000;
/** What is under way when the agent stops may still end. */
const CLOSE_WAIT_MS = 5_000;
/** Strings of the largest body, several times over. */
const HEAP_MAX_MB = 1_024;

/** Has large bodies read in a thread of their own, one at a time in their order. */
export class LargeBodies {
  readonly #thread: ComputeThread<BodyAsk, BodyAnswer>;
  readonly #clock: Clock;
  readonly #turns = new Semaphore(1);

  constructor(program: ThreadProgram, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock;
    this.#thread = new ComputeThread({
      ...{ program, clock, heapMaxMb: HEAP_MAX_MB, answerWithinMs: READ_MAX_MS },
      onFailure: (error) => log.error('The thread that reads large bodies has failed.', { error }),
    });
  }

  /** Takes the memory of `ask` away from the caller. Never rejects. */
  read(ask: BodyAsk): Promise<LargeReading> {
    return this.#turns.run(async () => {
      const outcome = await this.#thread.ask(
        ask,
        ask.blocks.map(({ buffer }) => buffer),
      );
      return outcome.kind === 'answer' ? outcome.answer : outcome;
    });
  }

  /** Lets what is under way end first, for a short time: a worker does not send again what it has sent. */
  async close(): Promise<void> {
    const ended = this.#turns.run(async () => undefined);
    await Promise.race([ended, this.#clock.sleep(CLOSE_WAIT_MS)]);
    await this.#thread.close();
  }
}
