import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { decideAdmission, effectiveLimit } from './decide-admission.js';
import { JOB_OPERATIONS, RATE_WINDOW_MS } from './job-operations.js';
import { SlidingCount } from './sliding-count.js';

/** What one bucket can add to the time for which something counts. */
const GRAIN_MS = 100;

/** Requests after one another: so long after the last one, so many at once. Long pauses are as likely as none. */
const arrivals = fc.array(
  fc.record({
    afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 350 }), fc.integer({ min: 0, max: 25_000 })),
    count: fc.integer({ min: 1, max: 5 }),
  }),
  { maxLength: 120 },
);

/** Every request with its instant, and nothing else: what the window is measured by. */
class ExactLog {
  readonly #entries: { readonly atMs: number; readonly count: number }[] = [];

  add(count: number, atMs: number): void {
    this.#entries.push({ atMs, count });
  }

  /** Within the `spanMs` that end with `nowMs`. */
  sum(spanMs: number, nowMs: number): number {
    const present = this.#entries.filter(({ atMs }) => atMs > nowMs - spanMs && atMs <= nowMs);
    return present.reduce((sum, { count }) => sum + count, 0);
  }

  /** The most that any span of the window's length ever held. */
  get peak(): number {
    return Math.max(0, ...this.#entries.map(({ atMs }) => this.sum(RATE_WINDOW_MS, atMs)));
  }
}

const startMs = fc.oneof(fc.integer({ min: 0, max: 1_000_000 }), fc.double({ min: 0, max: 1e9, noNaN: true }));

describe('a sliding count', () => {
  test('holds all of the last 10 s and nothing older than 10.1 s', () => {
    fc.assert(
      fc.property(arrivals, startMs, (steps, from) => {
        const [window, log] = [new SlidingCount(), new ExactLog()];
        let nowMs = from;
        for (const { afterMs, count } of steps) {
          nowMs += afterMs;
          expect(window.sum(nowMs)).toBeGreaterThanOrEqual(log.sum(RATE_WINDOW_MS, nowMs));
          expect(window.sum(nowMs)).toBeLessThanOrEqual(log.sum(RATE_WINDOW_MS + GRAIN_MS, nowMs));
          window.add(count, nowMs);
          log.add(count, nowMs);
        }
        expect(window.sum(nowMs + RATE_WINDOW_MS + GRAIN_MS)).toBe(0);
      }),
    );
  });

  test('knows when it will have fallen: then, and not a bucket earlier', () => {
    fc.assert(
      fc.property(arrivals, startMs, fc.nat(20), (steps, from, limit) => {
        const window = new SlidingCount();
        let nowMs = from;
        for (const { afterMs, count } of steps) {
          nowMs += afterMs;
          window.add(count, nowMs);
        }
        const waitMs = window.msUntil(limit, nowMs);
        expect(waitMs).toBeGreaterThanOrEqual(0);
        expect(waitMs).toBeLessThanOrEqual(RATE_WINDOW_MS + GRAIN_MS);
        if (waitMs > GRAIN_MS + 1) expect(window.sum(nowMs + waitMs - GRAIN_MS - 1)).toBeGreaterThan(limit);
        expect(window.sum(Math.ceil(nowMs + waitMs))).toBeLessThanOrEqual(limit);
      }),
    );
  });
});

describe('admission', () => {
  const limits = fc.record({ rate: fc.integer({ min: 1, max: 30 }), concurrent: fc.constant(null) });

  test('no 10 s admit more than the limit, and nobody is refused for what is older than 10.1 s', () => {
    fc.assert(
      fc.property(arrivals, limits, startMs, (steps, limit, from) => {
        const [window, log] = [new SlidingCount(), new ExactLog()];
        let nowMs = from;
        for (const { afterMs, count } of steps) {
          nowMs += afterMs;
          const { kind } = decideAdmission({ window, inFlight: 0 }, limit, { count, nowMs });
          if (kind === 'refused') {
            expect(log.sum(RATE_WINDOW_MS + GRAIN_MS, nowMs) + count).toBeGreaterThan(limit.rate);
            continue;
          }
          window.add(count, nowMs);
          log.add(count, nowMs);
        }
        expect(log.peak).toBeLessThanOrEqual(limit.rate);
      }),
    );
  });

  test('who waits as long as was said gets in', () => {
    fc.assert(
      fc.property(arrivals, limits, (steps, limit) => {
        const window = new SlidingCount();
        let nowMs = 0;
        for (const { afterMs } of steps) {
          nowMs += afterMs;
          const verdict = decideAdmission({ window, inFlight: 0 }, limit, { count: 1, nowMs });
          if (verdict.kind === 'admitted') {
            window.add(1, nowMs);
            continue;
          }
          expect(verdict.retryAfterMs).toBeGreaterThan(0);
          const later = { count: 1, nowMs: nowMs + verdict.retryAfterMs };
          expect(decideAdmission({ window, inFlight: 0 }, limit, later).kind).toBe('admitted');
          nowMs = later.nowMs;
        }
      }),
    );
  });

  test('workers only ever raise a limit, and each row keeps its proportion', () => {
    const workers = fc.record({ ready: fc.nat(5_000), requestsPerWorker: fc.nat(1_000) });
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(JOB_OPERATIONS)), workers, (base, many) => {
        const { rate, concurrent } = effectiveLimit(base, many);
        expect(rate).toBe(Math.max(base.rate, many.ready * many.requestsPerWorker));
        if (base.concurrent === null) expect(concurrent).toBeNull();
        else expect(concurrent).toBe(Math.max(base.concurrent, Math.floor(rate / 5)));
      }),
    );
  });
});
