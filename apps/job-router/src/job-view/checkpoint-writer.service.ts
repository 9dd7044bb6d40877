import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { CountLedger } from './count-ledger.js';
import type { JobFeed } from './job-feed.port.js';

/** Events since the last checkpoint are what a router that was killed reads again. */
export const CHECKPOINT_INTERVAL_MS = 60_000;

/** Events lag behind their records by far less. */
export const SETTLE_MS = 2_000;
/** A router stops when it has answered its last request. */
const SETTLE_AT_STOP_MS = 100;

export interface CheckpointWriterOptions {
  readonly ledger: CountLedger;
  readonly feed: Pick<JobFeed, 'isWhole' | 'evSequence' | 'checkpoints'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Keeps the checkpoint at which routers begin. Every whole view has the same counters, so one router writes for all. */
export class CheckpointWriter {
  readonly #options: CheckpointWriterOptions;
  readonly #loop: ControlLoop;
  #writtenAt = 0;

  constructor(options: CheckpointWriterOptions) {
    this.#options = options;
    this.#loop = new ControlLoop({
      name: 'job-view.checkpoint',
      intervalMs: CHECKPOINT_INTERVAL_MS,
      clock: options.clock,
      run: async (signal) => {
        if (!this.#hasNews() || (await options.feed.checkpoints.hasOtherWritten())) return;
        await this.#write(SETTLE_MS, signal);
      },
      onError: (_name, error) => this.#warn(error),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Soon: the first start of all has read every event there is, and the next one shall not. */
  hurry(): void {
    this.#loop.hurry();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    try {
      if (this.#hasNews()) await this.#write(SETTLE_AT_STOP_MS);
    } catch (error) {
      // The next router reads more events, which is all that is lost.
      this.#warn(error);
    }
  }

  #hasNews(): boolean {
    const { feed } = this.#options;
    return feed.isWhole && feed.evSequence !== this.#writtenAt;
  }

  async #write(settleMs: number, signal?: AbortSignal): Promise<void> {
    const { ledger, feed, clock } = this.#options;
    const { evSequence } = feed;
    if (!ledger.begin()) return;
    await clock.sleep(settleMs, signal);
    const draft = ledger.settle();
    if (draft === null || signal?.aborted === true) return;
    await feed.checkpoints.write({ evSequence, ...draft });
    this.#writtenAt = evSequence;
  }

  #warn(error: unknown): void {
    this.#options.logger.warn('the checkpoint of the counters could not be written', { error });
  }
}
