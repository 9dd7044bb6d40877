import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JobId } from '../ids.js';
import { mergeSlices, type Slice } from './merge-slices.js';
import { formatPageCursor, isOlder, newestFirst, parsePageCursor, type PageKey } from './page-key.js';

const ids = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const keys = fc.record({ createdAtMs: fc.nat({ max: 2_000_000_000_000 }), jobId: ids.map((id) => id as JobId) });

describe('a cursor', () => {
  test('comes back as the place that it was made of', () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(parsePageCursor(formatPageCursor(key))).toEqual(key);
      }),
    );
  });

  test('is nothing that somebody made up', () => {
    for (const text of ['', '.', 'a', 'a.', '.a', 'A.a', 'a.b c', 'a.b.c', `zzzzzzzzzz.a`, `a.${'x'.repeat(129)}`]) {
      expect(parsePageCursor(text)).toBeNull();
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        const key = parsePageCursor(text);
        if (key !== null) expect(() => new Date(key.createdAtMs).toISOString()).not.toThrow();
      }),
    );
  });
});

test('places have one order, in which none is twice', () => {
  fc.assert(
    fc.property(keys, keys, keys, (a, b, c) => {
      expect(Math.sign(newestFirst(a, b))).toBe(-Math.sign(newestFirst(b, a)) + 0);
      if (isOlder(a, b) && isOlder(b, c)) expect(isOlder(a, c)).toBe(true);
      if (!isOlder(a, b) && !isOlder(b, a)) expect(a).toEqual(b);
    }),
  );
});

/** What happens between two pages, as far as a list can see it. */
type Event =
  | { readonly kind: 'begins' }
  | { readonly kind: 'ends'; readonly at: number }
  | { readonly kind: 'expires'; readonly at: number }
  | { readonly kind: 'again'; readonly at: number };

const events: fc.Arbitrary<Event> = fc.oneof(
  fc.constant({ kind: 'begins' } as const),
  fc.record({ kind: fc.constantFrom('ends', 'expires', 'again'), at: fc.nat({ max: 50 }) }),
);

interface ModelJob extends PageKey {
  readonly source: 'live' | 'past';
}

/** Jobs that live, or of which only the history tells. One that has ended is in both until its time here is over. */
class World {
  readonly live = new Map<string, PageKey>();
  readonly past = new Map<string, PageKey>();
  #begun = 0;
  #nowMs = 1_000;

  /** Several begin in one instant, and a router's clock may be behind another's. */
  begin(backMs = 0): PageKey {
    this.#begun += 1;
    if (this.#begun % 3 === 0) this.#nowMs += 1;
    const key = {
      createdAtMs: this.#nowMs - backMs,
      jobId: `j${String((this.#begun * 7_919) % 1_000)}-${String(this.#begun)}` as JobId,
    };
    this.live.set(key.jobId, key);
    return key;
  }

  apply(event: Event): void {
    if (event.kind === 'begins') {
      this.begin();
      return;
    }
    const candidates = [...this.live.values()];
    const job = candidates[event.at % Math.max(1, candidates.length)];
    if (job === undefined) return;
    if (event.kind === 'ends') this.past.set(job.jobId, job);
    // Queued again: the history forgets that it ended.
    else if (event.kind === 'again') this.past.delete(job.jobId);
    // Only a job that has ended, and that the history has heard of, goes without a trace here.
    else if (this.past.has(job.jobId)) this.live.delete(job.jobId);
  }

  slice(
    source: 'live' | 'past',
    before: PageKey | null,
    { count, scan }: { count: number; scan: number },
  ): Slice<ModelJob> {
    const entries: ModelJob[] = [];
    let scanned = 0;
    for (const key of [...this[source].values()].toSorted(newestFirst)) {
      if (before !== null && !isOlder(key, before)) continue;
      entries.push({ ...key, source });
      scanned += 1;
      if (entries.length === count || scanned === scan) return { entries, through: key };
    }
    return { entries, through: null };
  }
}

const runs = fc.record({
  before: fc.array(events, { maxLength: 60 }),
  between: fc.array(fc.array(events, { maxLength: 12 }), { maxLength: 40 }),
  limit: fc.integer({ min: 1, max: 7 }),
  scan: fc.integer({ min: 1, max: 30 }),
});

describe('going through the pages', () => {
  test('gives every job that was there at the first page once, while others begin, end and expire', () => {
    fc.assert(
      fc.property(runs, ({ before, between, limit, scan }) => {
        const world = new World();
        for (let each = 0; each < 10; each += 1) world.begin();
        for (const event of before) world.apply(event);
        const atStart = new Set([...world.live.keys(), ...world.past.keys()]);
        const told: string[] = [];
        const upheavals = [...between];
        for (let cursor: PageKey | null = null, page = 0; ; page += 1) {
          const size = { count: limit + 1, scan };
          const merged: { entries: readonly ModelJob[]; next: PageKey | null } = mergeSlices(
            world.slice('live', cursor, size),
            world.slice('past', cursor, size),
            limit,
          );
          expect(merged.entries.length).toBeLessThanOrEqual(limit);
          for (const { jobId, source } of merged.entries) expect(source === 'live').toBe(world.live.has(jobId));
          told.push(...merged.entries.map(({ jobId }) => jobId));
          if (merged.next === null) break;
          cursor = parsePageCursor(formatPageCursor(merged.next));
          for (const event of upheavals.shift() ?? []) world.apply(event);
          expect(page).toBeLessThan(1_000);
        }
        expect(new Set(told).size).toBe(told.length);
        for (const jobId of atStart) expect(told).toContain(jobId);
      }),
      { numRuns: 500 },
    );
  });

  test('is in order', () => {
    fc.assert(
      fc.property(fc.array(keys), fc.array(keys), fc.integer({ min: 1, max: 20 }), (live, past, limit) => {
        const whole = (entries: PageKey[]): Slice<PageKey> => ({
          entries: entries.toSorted(newestFirst),
          through: null,
        });
        const { entries } = mergeSlices(whole(live), whole(past), limit);
        expect(entries).toEqual(entries.toSorted(newestFirst));
      }),
    );
  });
});
