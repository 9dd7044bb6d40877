import { makeApiKey } from '@berth/http';
import { inParallel, systemClock, systemRandom } from '@berth/lifecycle';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { StatementWatch } from './access-matrix/statement-watch.js';
import { useManagementApi } from './management-bench.js';

const KEYS = 2_000;
/** Lookups of one network. */
const [AT_ONCE, PER_SECOND] = [200, 20];
const FLOOD_MS = 240_000;
const bench = useManagementApi({ environment: { BERTH_RATE_LIMIT_HOUR: 'off' } });
const watch = new StatementWatch();

beforeAll(() => {
  watch.start();
});
afterAll(() => {
  watch.stop();
});

test(
  '2,000 random keys cost the database a bounded number of reads, and good keys of their address work',
  async () => {
    const key = await bench.newAccount();
    expect((await bench.call('GET /v2/serverless', { key })).status).toBe(200);
    const mark = 'zzzz';
    const startedMs = systemClock.monotonicMs();
    const statuses = new Set<number>();
    const reads = await watch.duringMarked(mark, async () => {
      const flood = inParallel(Array.from({ length: KEYS }), 20, async () => {
        const { key: random } = makeApiKey(systemRandom);
        const answer = await bench.call('GET /v2/serverless', { key: random.replace(/^bk_..../, `bk_${mark}`) });
        statuses.add(answer.status);
      });
      for (let n = 0; n < 20; n += 1) expect((await bench.call('GET /v2/serverless', { key })).status).toBe(200);
      await flood;
    });
    expect(reads.length).toBeGreaterThan(0);
    const elapsedSeconds = (systemClock.monotonicMs() - startedMs) / 1_000;
    expect(reads.length).toBeLessThanOrEqual(AT_ONCE + Math.ceil(elapsedSeconds * PER_SECOND));
    expect([...statuses].sort()).toEqual([401, 429]);
  },
  FLOOD_MS,
);
