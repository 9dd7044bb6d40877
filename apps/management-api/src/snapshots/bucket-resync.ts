import { isDeepStrictEqual } from 'node:util';
import { PlatformError } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { SnapshotDirectory, SnapshotWriter } from '@berth/messaging';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { snapshotMetrics } from './metrics.js';
import type { SnapshotTruth } from './snapshot-truth.port.js';

export interface BucketResyncOptions<Value> {
  readonly truth: SnapshotTruth<Value>;
  readonly directory: Pick<SnapshotDirectory<Value>, 'entries' | 'get' | 'unreadable'>;
  readonly writer: Pick<SnapshotWriter<Value>, 'delete' | 'put' | 'read'>;
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
 * Makes one bucket equal to its rows: writes what is missing or different, removes what nothing stands behind. Requests
 * publish before they commit, so a difference is believed only after the row was locked and both sides were read again.
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
    const { directory, truth } = this.#options;
    const wanted = await truth.all();
    const differing = [...wanted].filter(([key, value]) => !isDeepStrictEqual(directory.get(key), value));
    const keys = differing.map(([key]) => key);
    await this.#forEach(keys, signal, (key) => this.#write(key));
    await this.#forEach(this.#overdueOrphans(wanted), signal, (key) => this.#remove(key));
  }

  /** One key that cannot be put right is told, and keeps no other from it; while nobody answers the pass ends. */
  async #forEach(keys: readonly string[], signal: AbortSignal, act: (key: string) => Promise<void>): Promise<void> {
    for (const key of keys) {
      if (signal.aborted) return;
      try {
        await act(key);
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

  async #write(key: string): Promise<void> {
    const { truth, writer } = this.#options;
    await truth.holding(key, async (value) => {
      if (value === null) return;
      const present = await writer.read(key);
      if (isDeepStrictEqual(present?.value, value)) return;
      await writer.put(key, value);
      this.#count(key, 'written');
    });
  }

  async #remove(key: string): Promise<void> {
    const { truth, writer } = this.#options;
    await truth.holding(key, async (value) => {
      if (value !== null) return;
      await writer.delete(key);
      this.#orphans.delete(key);
      this.#count(key, 'removed');
    });
  }

  /** Named once for as long as it fails, since every pass finds it again. */
  #fail(key: string, error: unknown): void {
    const { logger, truth } = this.#options;
    this.#corrections.inc({ bucket: truth.bucket, kind: 'failed' });
    if (this.#failing.has(key) || this.#failing.size >= FAILING_NAMED_MAX) return;
    this.#failing.add(key);
    logger.error('a snapshot cannot be put right; the others are', { bucket: truth.bucket, key, error });
  }

  #count(key: string, kind: 'written' | 'removed'): void {
    const { logger, truth } = this.#options;
    this.#failing.delete(key);
    this.#corrections.inc({ bucket: truth.bucket, kind });
    logger.warn(`snapshot ${kind}: it differed from the database`, { bucket: truth.bucket, key });
  }
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof PlatformError && error.code === 'service-unavailable';
