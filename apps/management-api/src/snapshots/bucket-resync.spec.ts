import { describe, expect, test } from '@jest/globals';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { AlignedBucket } from './aligned-bucket.js';
import { BucketResync } from './bucket-resync.js';

const GRACE_MS = 60_000;

/** One bucket and its rows in memory. `watched` may lag behind `bucket`, as a watch does. */
class Bench {
  readonly clock = new ManualClock();
  readonly metrics = new MetricRegistry();
  readonly rows = new Map<string, number>();
  readonly bucket = new Map<string, number>();
  watched: ReadonlyMap<string, number> = this.bucket;
  /** Keys that hold what cannot be read: no value, yet something. */
  readonly unreadable = new Set<string>();
  /** Keys that the broker refuses to write. */
  readonly refused = new Set<string>();
  /** Keys whose change waits in the outbox. */
  readonly waiting = new Set<string>();
  /** Runs when the row is read: a writer that was in between has committed by then. */
  onRead: () => void = () => undefined;
  readonly resync = new BucketResync<number>({
    bucket: new AlignedBucket({
      truth: {
        bucket: 'numbers',
        all: async () => new Map(this.rows),
        one: async (key) => {
          this.onRead();
          return this.rows.get(key) ?? null;
        },
      },
      writer: {
        latest: async (key) => {
          const value = this.bucket.get(key) ?? null;
          return { value, isAbsent: value === null && !this.unreadable.has(key), revision: 1 };
        },
        put: async (key, value) => {
          if (this.refused.has(key)) throw new RangeError('no such key');
          this.unreadable.delete(key);
          this.bucket.set(key, value);
          return 1;
        },
        delete: async (key) => {
          this.unreadable.delete(key);
          this.bucket.delete(key);
          return true;
        },
      },
    }),
    directory: {
      get: (key) => this.watched.get(key),
      entries: () => this.watched.entries(),
      unreadable: () => this.unreadable.values(),
    },
    outbox: { has: async ({ key }) => this.waiting.has(key) },
    keptUntilMs: (_, firstSeenMs) => firstSeenMs + GRACE_MS,
    clock: this.clock,
    logger: silentLogger,
    metrics: this.metrics,
  });

  run(): Promise<void> {
    return this.resync.run(new AbortController().signal);
  }

  async counted(kind: 'written' | 'removed' | 'failed'): Promise<number> {
    const text = await this.metrics.text();
    const [, count = '0'] = new RegExp(`kind="${kind}"\\} (\\d+)`).exec(text) ?? [];
    return Number(count);
  }
}

describe('a bucket', () => {
  test('gets what is missing and what differs, each counted once', async () => {
    const bench = new Bench();
    bench.rows.set('a', 1).set('b', 2).set('c', 3);
    bench.bucket.set('a', 1).set('b', 9);
    await bench.run();
    await bench.run();
    expect(Object.fromEntries(bench.bucket)).toEqual({ a: 1, b: 2, c: 3 });
    expect(await bench.counted('written')).toBe(2);
  });

  test('is left alone where only the watch is behind', async () => {
    const bench = new Bench();
    bench.rows.set('a', 1);
    bench.bucket.set('a', 1);
    bench.watched = new Map();
    await bench.run();
    expect(await bench.counted('written')).toBe(0);
  });

  test('is left alone where a writer has published and then commits', async () => {
    const bench = new Bench();
    bench.rows.set('a', 1);
    bench.bucket.set('a', 2);
    bench.onRead = () => bench.rows.set('a', 2);
    await bench.run();
    expect(bench.bucket.get('a')).toBe(2);
    expect(await bench.counted('written')).toBe(0);
  });

  test('is left alone where a change waits to be published', async () => {
    const bench = new Bench();
    bench.rows.set('a', 2);
    bench.bucket.set('a', 1);
    bench.waiting.add('a');
    await bench.run();
    expect(bench.bucket.get('a')).toBe(1);
    expect(await bench.counted('written')).toBe(0);
  });

  test('keeps a value without a row for its grace, and no longer', async () => {
    const bench = new Bench();
    bench.bucket.set('stranger', 1);
    await bench.run();
    await bench.clock.advance(GRACE_MS - 1);
    await bench.run();
    expect(bench.bucket.has('stranger')).toBe(true);
    await bench.clock.advance(1);
    await bench.run();
    expect(bench.bucket.has('stranger')).toBe(false);
    expect(await bench.counted('removed')).toBe(1);
  });

  test('starts the grace anew for a value whose row came and went', async () => {
    const bench = new Bench();
    bench.bucket.set('a', 1);
    await bench.run();
    bench.rows.set('a', 1);
    await bench.clock.advance(GRACE_MS);
    await bench.run();
    bench.rows.delete('a');
    await bench.run();
    expect(bench.bucket.has('a')).toBe(true);
  });

  test('keeps a value whose row appears while it is being removed', async () => {
    const bench = new Bench();
    bench.bucket.set('a', 1);
    await bench.run();
    await bench.clock.advance(GRACE_MS);
    bench.onRead = () => bench.rows.set('a', 1);
    await bench.run();
    expect(bench.bucket.has('a')).toBe(true);
  });

  test('gets a sound value in place of one that cannot be read', async () => {
    const bench = new Bench();
    bench.rows.set('a', 1);
    bench.unreadable.add('a');
    await bench.run();
    expect([bench.bucket.get('a'), bench.unreadable.size]).toEqual([1, 0]);
  });

  test('keeps what cannot be read and has no row for its grace, and no longer', async () => {
    const bench = new Bench();
    bench.unreadable.add('odd.key');
    await bench.run();
    await bench.clock.advance(GRACE_MS - 1);
    await bench.run();
    expect(bench.unreadable.size).toBe(1);
    await bench.clock.advance(1);
    await bench.run();
    expect(bench.unreadable.size).toBe(0);
  });

  test('is put right but for the one key that cannot be', async () => {
    const bench = new Bench();
    bench.rows.set('a', 1).set('bad', 2).set('c', 3);
    bench.refused.add('bad');
    await bench.run();
    expect(Object.fromEntries(bench.bucket)).toEqual({ a: 1, c: 3 });
    expect(await bench.counted('failed')).toBe(1);
  });
});
