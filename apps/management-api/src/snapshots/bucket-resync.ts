import { isDeepStrictEqual } from 'node:util';
import { PlatformError } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { SnapshotDirectory } from '@berth/messaging';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { AlignedBucket } from './aligned-bucket.js';
import { snapshotMetrics } from './metrics.js';
import type { SnapshotOutbox } from './snapshot-outbox.port.js';

export interface BucketResyncOptions<Value> {
  readonly bucket: Pick<AlignedBucket<Value>, 'align' | 'name' | 'wanted'>;
  readonly directory: Pick<SnapshotDirectory<Value>, 'entries' | 'get' | 'unreadable'>;
  readonly outbox: Pick<SnapshotOutbox, 'has'>;
  /**
   * How long the bucket keeps a value that no row stands behind, from when that was first seen or from the value's own
   * time. Null: a value that cannot be read.
   */
  readonly keptUntilMs: (value: Value | null, firstSeenMs: number) => number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

const FAILING_NAMED_MAX = 1_000;

/**
 * Makes one bucket equal to its rows: writes what is missing or different, removes what nothing stands behind. That is for
 * what the bucket lost or somebody else wrote there; changes come by the outbox, and what waits in it is no difference.
 */
export class BucketResync<Value> {
  readonly #options: BucketResyncOptions<Value>;
  readonly #corrections: ReturnType<typeof snapshotMetrics>['corrections'];
  /** Keys without a row, with the instant at which that was first seen. */
  readonly #orphans = new Map<string, number>();
  /** Keys whose failure has been told. */
  readonly #failing = new Set<string>();

  constructor(options: BucketResyncOptions<Value>) {
    this.#options = options;
    this.#corrections = snapshotMetrics(options.metrics).corrections;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { bucket, directory } = this.#options;
    const wanted = await bucket.wanted();
    const differing = [...wanted].filter(([key, value]) => !isDeepStrictEqual(directory.get(key), value));
    const keys = differing.map(([key]) => key);
    await this.#alignEach([...keys, ...this.#overdueOrphans(wanted)], signal);
  }

  /** One key that cannot be put right is told, and keeps no other from it; while the broker does not answer the pass ends. */
  async #alignEach(keys: readonly string[], signal: AbortSignal): Promise<void> {
    for (const key of keys) {
      if (signal.aborted) return;
      try {
        await this.#align(key);
      } catch (error) {
        if (isUnavailable(error)) throw error;
        this.#fail(key, error);
      }
    }
  }

  #overdueOrphans(wanted: ReadonlyMap<string, Value>): readonly string[] {
    const { clock, directory, keptUntilMs } = this.#options;
    const nowMs = clock.nowMs();
    const unreadable = [...directory.unreadable()].map((key) => [key, null] as const);
    const orphans = [...directory.entries(), ...unreadable].filter(([key]) => !wanted.has(key));
    const names = new Set(orphans.map(([key]) => key));
    for (const key of this.#orphans.keys()) if (!names.has(key)) this.#orphans.delete(key);
    return orphans
      .filter(([key, value]) => {
        const firstSeenMs = this.#orphans.get(key) ?? nowMs;
        this.#orphans.set(key, firstSeenMs);
        return nowMs >= keptUntilMs(value, firstSeenMs);
      })
      .map(([key]) => key);
  }

  async #align(key: string): Promise<void> {
    const { bucket, outbox } = this.#options;
    if (await outbox.has({ bucket: bucket.name, key })) return;
    const done = await bucket.align(key);
    if (done === 'removed') this.#orphans.delete(key);
    if (done !== 'same') this.#count(key, done);
  }

  /** Named once for as long as it fails, since every pass finds it again. */
  #fail(key: string, error: unknown): void {
    const { bucket, logger } = this.#options;
    this.#corrections.inc({ bucket: bucket.name, kind: 'failed' });
    if (this.#failing.has(key) || this.#failing.size >= FAILING_NAMED_MAX) return;
    this.#failing.add(key);
    logger.error('a snapshot cannot be put right; the others are', { bucket: bucket.name, key, error });
  }

  #count(key: string, kind: 'written' | 'removed'): void {
    const { bucket, logger } = this.#options;
    this.#failing.delete(key);
    this.#corrections.inc({ bucket: bucket.name, kind });
    logger.warn(`snapshot ${kind}: it differed from the database`, { bucket: bucket.name, key });
  }
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof PlatformError && error.code === 'service-unavailable';
