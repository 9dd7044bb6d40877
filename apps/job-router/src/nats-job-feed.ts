import { demandSubject, type DemandMessage } from '@berth/contracts';
import { PlatformError } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import { CounterCheckpoints, JobViewFeed, type Broker, type CounterCheckpoint, type JobEvent } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { JobFeed, JobFeedListener } from './job-view/job-feed.port.js';

export interface NatsJobFeedOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const RESTORE_RETRY_MS = 1_000;

/**
 * The counters as the last checkpoint has them, the events since, then the records themselves: so that counters are the
 * same after a restart, however much `EV` holds or has dropped. Without a checkpoint, every event that `EV` still has.
 */
export class NatsJobFeed implements JobFeed {
  readonly checkpoints: CounterCheckpoints;
  readonly #options: NatsJobFeedOptions;
  readonly #stop = new AbortController();
  #feed: JobViewFeed | undefined;
  #begun: Promise<void> | undefined;
  #listener: JobFeedListener | undefined;
  #toldCount = 0;

  constructor(options: NatsJobFeedOptions) {
    this.#options = options;
    this.checkpoints = new CounterCheckpoints(options);
  }

  get isWhole(): boolean {
    return this.#feed?.isWhole ?? false;
  }

  get evSequence(): number {
    return this.#feed?.evSequence ?? 0;
  }

  /** Versions of records told so far, by events and as records: it grows while the view is on its way. */
  get toldCount(): number {
    return this.#toldCount;
  }

  follow(listener: JobFeedListener): void {
    this.#listener = listener;
  }

  publishDemand(message: DemandMessage): void {
    this.#options.broker.connection.publish(demandSubject(message.routerId), JSON.stringify(message));
  }

  start(): void {
    this.#begun ??= this.#begin();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#begun;
    await this.#feed?.stop();
  }

  async #begin(): Promise<void> {
    let checkpoint = await this.#readCheckpoint();
    while (checkpoint === 'unknown' && !this.#stop.signal.aborted) {
      await this.#options.clock.sleep(RESTORE_RETRY_MS, this.#stop.signal);
      checkpoint = await this.#readCheckpoint();
    }
    if (checkpoint === 'unknown' || this.#stop.signal.aborted) return;
    if (checkpoint !== null) this.#listener?.restored(checkpoint);
    this.#feed = this.#openFeed(checkpoint?.evSequence ?? 0);
    this.#feed.start();
  }

  async #readCheckpoint(): Promise<CounterCheckpoint | null | 'unknown'> {
    try {
      return await this.checkpoints.read();
    } catch (error) {
      this.#options.logger.warn('the checkpoint of the counters could not be read', { error });
      // One that cannot be read is as good as none; a broker that does not answer is asked again.
      return error instanceof PlatformError ? 'unknown' : null;
    }
  }

  #openFeed(evSequence: number): JobViewFeed {
    const { broker, clock, logger } = this.#options;
    return new JobViewFeed({
      broker,
      clock,
      from: { evSequence },
      onEvent: (event) => {
        this.#tell(event);
      },
      onWhole: () => {
        this.#listener?.whole();
      },
      onInterrupted: (reason) => {
        logger.warn('the feed of job events was interrupted', { reason });
        this.#listener?.interrupted();
      },
    });
  }

  #tell(event: JobEvent): void {
    this.#toldCount += 1;
    const isRecord = event.evSequence === null;
    if (event.state !== 'removed') this.#listener?.changed(event, isRecord ? 'record' : 'event');
    else if (event.reason === 'purged') this.#listener?.purged(event);
    else this.#listener?.removed(event);
    if (!isRecord) this.#listener?.heard(event);
  }
}
