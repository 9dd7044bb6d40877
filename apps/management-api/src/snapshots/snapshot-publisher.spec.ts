import { PlatformError } from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import type { OutboxEntry } from './snapshot-outbox.port.js';
import { SnapshotPublisher } from './snapshot-publisher.js';

const PASS_MAX = 500;

/** An outbox in memory, and one bucket whose keys may be refused. */
class Bench {
  readonly clock = new ManualClock();
  readonly metrics = new MetricRegistry();
  readonly published: string[] = [];
  readonly refused = new Set<string>();
  isAway = false;
  /** How long each key takes. */
  costMs = 0;
  entries: OutboxEntry[] = [];
  readonly publisher = new SnapshotPublisher({
    outbox: {
      add: async (bucket, keys) => this.#add(bucket, keys),
      after: async (position, limit) =>
        this.entries.filter((each) => Number(each.position) > Number(position)).slice(0, limit),
      remove: async (positions) => {
        this.entries = this.entries.filter(({ position }) => !positions.includes(position));
      },
      has: async () => false,
      backlog: async () => ({ entries: this.entries.length, oldestAgeSeconds: this.entries.length === 0 ? 0 : 7 }),
    },
    buckets: [
      {
        name: 'numbers',
        probe: async () => undefined,
        align: async (key) => {
          await this.clock.advance(this.costMs);
          if (this.isAway) throw new PlatformError('service-unavailable', 'away');
          if (this.refused.has(key)) throw new RangeError('no such key');
          this.published.push(key);
          return 'written';
        },
      },
    ],
    clock: this.clock,
    logger: silentLogger,
    metrics: this.metrics,
  });
  #position = 0;

  add(...keys: string[]): readonly OutboxEntry[] {
    return this.#add('numbers', keys);
  }

  pass(): Promise<void> {
    return this.publisher.run(new AbortController().signal);
  }

  #add(bucket: string, keys: readonly string[]): readonly OutboxEntry[] {
    const added = keys.map((key) => ({ bucket, key, position: `${(this.#position += 1)}` }));
    this.entries.push(...added);
    return added;
  }
}

describe('what a request has changed', () => {
  test('is published at once, a key once however often it was changed, and leaves the outbox', async () => {
    const bench = new Bench();
    await bench.publisher.publish(bench.add('a', 'b', 'a'));
    expect(bench.published.toSorted()).toEqual(['a', 'b']);
    expect(bench.entries).toEqual([]);
  });

  test('waits for the loop while the broker is away, and the request is told nothing of it', async () => {
    const bench = new Bench();
    const entries = bench.add('a');
    bench.isAway = true;
    await bench.publisher.publish(entries);
    await expect(bench.pass()).rejects.toMatchObject({ code: 'service-unavailable' });
    expect(bench.entries).toEqual(entries);
    bench.isAway = false;
    await bench.pass();
    expect([bench.published, bench.entries]).toEqual([['a'], []]);
  });

  test('keeps the request for a bounded time; the rest is the loop’s', async () => {
    const bench = new Bench();
    bench.costMs = 6_000;
    await bench.publisher.publish(bench.add('a', 'b', 'c', 'd', 'e'));
    expect(bench.entries.map(({ key }) => key)).toEqual(['e']);
    await bench.pass();
    expect(bench.entries).toEqual([]);
  });
});

describe('an entry that cannot be published', () => {
  test('stays, is counted, and keeps no other from it', async () => {
    const bench = new Bench();
    bench.refused.add('bad');
    bench.add('bad', 'a');
    bench.entries.push({ bucket: 'of a later version', key: 'a', position: '100' });
    await bench.pass();
    expect(bench.published).toEqual(['a']);
    expect(bench.entries.map(({ position }) => position)).toEqual(['1', '100']);
    const text = await bench.metrics.text();
    expect(text).toContain('berth_management_snapshot_outbox_failed_total{bucket="numbers"} 1');
    expect(text).toContain('berth_management_snapshot_outbox_entries 3');
    expect(text).toContain('berth_management_snapshot_outbox_oldest_age_seconds 7');
  });

  test('does not stand before those behind it, however many there are', async () => {
    const bench = new Bench();
    const bad = Array.from({ length: PASS_MAX }, (_, index) => `bad${index}`);
    for (const key of bad) bench.refused.add(key);
    bench.add(...bad, 'a');
    await bench.pass();
    await bench.pass();
    expect(bench.published).toEqual(['a']);
    bench.refused.clear();
    await bench.pass();
    expect(bench.entries).toEqual([]);
  });
});
