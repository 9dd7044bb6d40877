import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Scene } from '../../test/endpoint-jobs/scene.js';
import type { JobId } from '../ids.js';
import { CLAIM_MS, TRIES_MAX, TRY_INTERVAL_MS, type ToldDelivery } from '../webhook/index.js';
import { viewDueDeliveries } from './views/delivery-views.js';
import { viewDeliveries } from './views/job-views.js';

const SUCCESS = { isSuccess: true, statusCode: 200, error: null };
const FAILURE = { isSuccess: false, statusCode: 500, error: 'answered 500' };

/** The telling of one end, and senders that hold it now and then. */
class Telling {
  readonly scene = new Scene();
  readonly #jobId: JobId = this.scene.submit({ webhook: 'https://example.com' });

  constructor() {
    this.scene.finish(this.scene.takeOne(), 'COMPLETED');
  }

  /** Whether the try was begun. */
  begin(token: string): boolean {
    return this.scene.ask({ kind: 'begin-try', jobId: this.#jobId, attempt: 1, token }).kind === 'begun';
  }

  /** Whether the word counted. */
  end(token: string, result: typeof SUCCESS | typeof FAILURE): boolean {
    return this.scene.ask({ kind: 'end-try', jobId: this.#jobId, attempt: 1, token, ...result }).kind === 'recorded';
  }

  get told(): ToldDelivery {
    const [told] = viewDeliveries(this.scene.state, this.#jobId) ?? [];
    if (told === undefined) throw new Error('it has a webhook');
    return told;
  }

  isDue(): boolean {
    return viewDueDeliveries(this.scene.state, this.scene.nowMs, 9).length > 0;
  }
}

describe('the telling of an end', () => {
  test('is due at once, and from its claim on only when the claim is over', () => {
    const telling = new Telling();
    const { nowMs } = telling.scene;
    expect(telling.isDue()).toBe(true);
    expect(telling.begin('a')).toBe(true);
    expect(telling.told.tries).toEqual([{ atMs: nowMs, durationMs: null, statusCode: null, error: null }]);
    telling.scene.pass(CLAIM_MS - 1);
    expect([telling.isDue(), telling.begin('b')]).toEqual([false, false]);
    telling.scene.pass(1);
    expect([telling.isDue(), telling.begin('b')]).toEqual([true, true]);
  });

  test('is over with the first success', () => {
    const telling = new Telling();
    const { nowMs } = telling.scene;
    telling.begin('a');
    telling.scene.pass(30);
    expect(telling.end('a', SUCCESS)).toBe(true);
    expect(telling.told).toMatchObject({ outcome: 'delivered', isClaimed: false });
    expect(telling.told.tries).toEqual([{ atMs: nowMs, durationMs: 30, statusCode: 200, error: null }]);
    telling.scene.pass(60_000);
    expect([telling.isDue(), telling.begin('b')]).toEqual([false, false]);
  });

  test('is tried again ten seconds after a failure, twice, and has failed then', () => {
    const telling = new Telling();
    for (const left of [2, 1, 0]) {
      expect(telling.begin(`t${left}`)).toBe(true);
      telling.scene.pass(100);
      telling.end(`t${left}`, FAILURE);
      if (left === 0) break;
      telling.scene.pass(TRY_INTERVAL_MS - 1);
      expect(telling.begin('early')).toBe(false);
      telling.scene.pass(1);
    }
    expect(telling.told).toMatchObject({ outcome: 'failed', tries: { length: TRIES_MAX } });
  });

  test('counts a try whose sender went away, and says so', () => {
    const telling = new Telling();
    for (const token of ['a', 'b', 'c']) {
      expect(telling.begin(token)).toBe(true);
      telling.scene.pass(CLAIM_MS);
    }
    expect(telling.told.tries[0]).toMatchObject({
      ...{ durationMs: CLAIM_MS, statusCode: null },
      error: expect.stringMatching(/^interrupted/),
    });
    expect(telling.begin('d')).toBe(false);
    expect(telling.told).toMatchObject({ outcome: 'failed', isClaimed: false });
  });

  test('hears only the present claim', () => {
    const telling = new Telling();
    telling.begin('a');
    telling.scene.pass(CLAIM_MS);
    telling.begin('b');
    expect(telling.end('a', SUCCESS)).toBe(false);
    expect(telling.end('b', SUCCESS)).toBe(true);
    expect(telling.end('b', FAILURE)).toBe(false);
  });
});

/** What any sender may do, in any order and with any word: one may begin, or tell of a try that it once had. */
const step = fc.record({
  waitMs: fc.integer({ min: 0, max: 40_000 }),
  sender: fc.integer({ min: 0, max: 2 }),
  does: fc.constantFrom('begin', 'succeed', 'fail'),
});

test('whatever senders do: three tries at most, none after a success, ten seconds between a failure and the next', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const telling = new Telling();
      const tokens = new Map<number, string>();
      let begun = 0;
      let failedAtMs = Number.NEGATIVE_INFINITY;
      for (const [order, { does, sender, waitMs }] of steps.entries()) {
        telling.scene.pass(waitMs);
        const { nowMs } = telling.scene;
        const { outcome } = telling.told;
        if (does !== 'begin') {
          const hasCounted = telling.end(tokens.get(sender) ?? 'none', does === 'succeed' ? SUCCESS : FAILURE);
          if (hasCounted) expect(outcome).toBeNull();
          if (hasCounted && does === 'fail') failedAtMs = nowMs;
        } else if (telling.begin(`${sender}-${order}`)) {
          begun += 1;
          tokens.set(sender, `${sender}-${order}`);
          expect(outcome).toBeNull();
          expect(nowMs - failedAtMs).toBeGreaterThanOrEqual(TRY_INTERVAL_MS);
        }
      }
      expect(begun).toBeLessThanOrEqual(TRIES_MAX);
      const { tries } = telling.told;
      expect(tries).toHaveLength(begun);
      expect(tries.filter(({ durationMs }) => durationMs === null).length).toBeLessThanOrEqual(1);
    }),
  );
});
