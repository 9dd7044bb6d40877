import { PlatformError } from '@berth/domain';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { AlignedBucket } from './aligned-bucket.js';
import { KeyedCoalescer } from './keyed-coalescer.js';
import { snapshotMetrics } from './metrics.js';
import type { OutboxEntry, SnapshotOutbox } from './snapshot-outbox.port.js';

export interface SnapshotPublisherOptions {
  readonly outbox: SnapshotOutbox;
  readonly buckets: readonly Pick<AlignedBucket<unknown>, 'align' | 'name' | 'probe'>[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

const INTERVAL_MS = 1_000;
/** Entries of one pass; the next goes on behind them. A request publishes no more of what it changes either. */
export const PASS_MAX = 500;
/** Keys that are published side by side. */
const PARALLEL_MAX = 4;
/** How long a request goes on with what it has changed; what is left then is the loop's. */
const REQUEST_MAX_MS = 5_000;
const FAILING_NAMED_MAX = 1_000;
const START = '0';

/**
 * Brings committed changes to the buckets: those of a request at once, and all that others have left, because they died
 * or the broker did not answer, by a loop. An entry goes only after its key has been published. Doing it twice, or in
 * several processes, is harmless.
 */
export class SnapshotPublisher {
  readonly #options: SnapshotPublisherOptions;
  readonly #metrics: ReturnType<typeof snapshotMetrics>;
  readonly #loop: ControlLoop;
  /** A key that a hundred requests change at one time is published a few times, and not a hundred. */
  readonly #turns = new KeyedCoalescer<OutboxEntry>((entries) => this.#publishKey(entries));
  /** Entries that cannot be published and whose failure has been told. */
  readonly #failing = new Set<string>();
  #after = START;
  #isOutage = false;

  constructor(options: SnapshotPublisherOptions) {
    this.#options = options;
    this.#metrics = snapshotMetrics(options.metrics);
    const { clock } = options;
    const onError = (_: string, error: unknown): void => {
      this.#tellOutage(error);
    };
    this.#loop = new ControlLoop({
      name: 'snapshot.outbox',
      intervalMs: INTERVAL_MS,
      clock,
      onError,
      run: (signal) => this.run(signal),
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /**
   * To be asked before the commit: a change that the broker cannot be told of is not made at all.
   *
   * @throws PlatformError `service-unavailable` while the bucket does not answer
   */
  async probe({ bucket, key }: OutboxEntry): Promise<void> {
    await this.#bucket(bucket).probe(key);
  }

  /** To be called after the commit. Never fails: what cannot be published now is the loop's. */
  async publish(entries: readonly OutboxEntry[]): Promise<void> {
    const { clock } = this.#options;
    const endsAtMs = clock.monotonicMs() + REQUEST_MAX_MS;
    try {
      await this.#publishAll(entries, () => clock.monotonicMs() >= endsAtMs);
    } catch (error) {
      this.#tellOutage(error);
    }
  }

  /** One pass of the loop. @throws PlatformError `service-unavailable` */
  async run(signal: AbortSignal): Promise<void> {
    const { outbox } = this.#options;
    const { entries: depth, oldestAgeSeconds } = await outbox.backlog();
    this.#metrics.outboxEntries.set(depth);
    this.#metrics.outboxOldestAge.set(oldestAgeSeconds);
    if (depth > 0) await this.#pass(signal);
    this.#isOutage = false;
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const entries = await this.#options.outbox.after(this.#after, PASS_MAX);
    await this.#publishAll(entries, () => signal.aborted);
    // Behind those, so that entries which cannot be published keep no other from its turn.
    const isAll = entries.length < PASS_MAX;
    this.#after = isAll ? START : (entries.at(-1)?.position ?? START);
    if (!isAll) this.#loop.hurry();
  }

  async #publishAll(entries: readonly OutboxEntry[], isOver: () => boolean): Promise<void> {
    const keys = [...Map.groupBy(entries, ({ bucket, key }) => `${bucket} ${key}`)];
    for (let done = 0; done < keys.length && !isOver(); done += PARALLEL_MAX) {
      const batch = keys.slice(done, done + PARALLEL_MAX);
      const outcomes = await Promise.allSettled(batch.map(([name, ofKey]) => this.#turns.take(name, ofKey)));
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    }
  }

  /** One that cannot be published is told, and keeps no other from it. @throws PlatformError `service-unavailable` */
  async #publishKey(entries: readonly OutboxEntry[]): Promise<void> {
    const [first] = entries;
    if (first === undefined) return;
    const positions = entries.map(({ position }) => position);
    try {
      await this.#bucket(first.bucket).align(first.key);
      await this.#options.outbox.remove(positions);
      for (const position of positions) this.#failing.delete(position);
    } catch (error) {
      if (error instanceof PlatformError && error.code === 'service-unavailable') throw error;
      this.#tellFailing(first, error);
    }
  }

  #bucket(name: string): Pick<AlignedBucket<unknown>, 'align' | 'probe'> {
    const found = this.#options.buckets.find((bucket) => bucket.name === name);
    if (found === undefined) throw new Error(`no bucket ${name}`);
    return found;
  }

  /** Named once for as long as it fails, since every pass finds it again. */
  #tellFailing({ bucket, key, position }: OutboxEntry, error: unknown): void {
    this.#metrics.outboxFailed.inc({ bucket });
    if (this.#failing.has(position) || this.#failing.size >= FAILING_NAMED_MAX) return;
    this.#failing.add(position);
    this.#options.logger.error('a changed snapshot cannot be published; the others are', { bucket, key, error });
  }

  /** Once until a pass succeeds: the loop tries every second. */
  #tellOutage(error: unknown): void {
    if (this.#isOutage) return;
    this.#isOutage = true;
    this.#options.logger.warn('changed snapshots wait to be published', { error });
  }
}
