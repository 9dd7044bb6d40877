import { describe, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, useManagementApi, type Answer } from './management-bench.js';

const PER_DAY = 60;
/** Nobody's midnight: the day does not turn while the spec runs, as a minute might. */
const bench = useManagementApi({
  environment: {
    BERTH_RATE_LIMIT_MINUTE: '1000',
    BERTH_RATE_LIMIT_HOUR: '2000',
    BERTH_RATE_LIMIT_DAY: String(PER_DAY),
  },
});

const limits = ({ headers }: Answer): (string | null)[] => [headers.get('ratelimit'), headers.get('ratelimit-policy')];

/** Requests that are left of the day. */
const left = (answer: Answer): number => Number(/"day";r=(\d+);/.exec(limits(answer)[0] ?? '')?.[1]);

const list = (key: string, url?: string): Promise<Answer> =>
  bench.call('GET /v2/serverless', { key, ...(url === undefined ? {} : { url }) });

describe('every answer to a good key', () => {
  test('says what is left of the minute, the hour and the day', async () => {
    const key = await bench.newAccount();
    const [left, policy] = limits(await list(key));
    expect(left).toMatch(/^"minute";r=999;t=\d{1,2}, "hour";r=1999;t=\d{1,4}, "day";r=59;t=\d{1,5}$/);
    expect(policy).toBe('"minute";q=1000;w=60, "hour";q=2000;w=3600, "day";q=60;w=86400');
  });

  test('does so whatever its status, and counts over all keys of the account', async () => {
    const account = await bench.newAccount();
    const reader = await bench.newKey(['serverless:read'], { maker: account });
    const created = await bench.call('POST /v2/serverless', { key: account, body: QUEUE_ENDPOINT });
    const forbidden = await bench.call('POST /v2/serverless', { key: reader, body: QUEUE_ENDPOINT });
    const invalid = await bench.call('POST /v2/serverless', { key: account, body: { name: 1 } });
    const malformed = await bench.call('POST /v2/serverless', { key: account, text: '{' });
    const missing = await bench.call('GET /v2/serverless/nothing', { key: reader });
    const answers = [created, forbidden, invalid, malformed, missing];
    expect(answers.map(({ status }) => status)).toEqual([201, 403, 422, 400, 404]);
    expect(answers.map(left)).toEqual([58, 57, 56, 55, 54]);
  });
});

test('who has no good key, or needs none, is told of no limits', async () => {
  for (const [request, key, status] of [
    ['GET /v2/serverless', null, 401],
    ['GET /v2/serverless', 'bk_unknown0000_x', 401],
    ['GET /nothing', null, 404],
    ['GET /docs/problems/rate-limited', null, 200],
  ] as const) {
    const answer = await bench.call(request, { key, isOffContract: true });
    expect([answer.status, ...limits(answer)]).toEqual([status, null, null]);
  }
});

test('operators have none', async () => {
  for (let request = 0; request < PER_DAY + 5; request += 1) {
    const answer = await bench.call('GET /v2/accounts');
    expect([answer.status, ...limits(answer)]).toEqual([200, null, null]);
  }
});

test('of 200 requests at once over two processes exactly the quota is admitted; the rest cost nothing', async () => {
  const other = await bench.startProcess();
  const [key, neighbour] = [await bench.newAccount(), await bench.newAccount()];
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => list(key, index % 2 === 0 ? undefined : other.url)),
  );
  const admitted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  expect([admitted.length, refused.length]).toEqual([PER_DAY, 200 - PER_DAY]);
  expect(admitted.map(left).sort((a, b) => b - a)).toEqual(Array.from({ length: PER_DAY }, (_, n) => PER_DAY - 1 - n));
  for (const answer of refused) {
    expect(answer.body.detail).toBe('rate limit exceeded for the day window');
    expect(limits(answer)[0]).toMatch(/^"minute";r=\d+;t=\d+, "hour";r=\d+;t=\d+, "day";r=0;t=\d+$/);
    expect(`"day";r=0;t=${answer.headers.get('retry-after')}`).toBe(limits(answer)[0]?.split(', ')[2]);
  }
  expect((await list(neighbour)).status).toBe(200);
  await other.stop();
});

test('a refused request does nothing, and a process that starts later still counts what was', async () => {
  const key = await bench.newAccount();
  for (let request = 0; request < PER_DAY; request += 1) await list(key);
  const later = await bench.startProcess();
  const refused = await bench.call('POST /v2/serverless', { key, body: QUEUE_ENDPOINT, url: later.url });
  expect(refused.status).toBe(429);
  const rows = await bench.source.query<object[]>(
    `SELECT 1 FROM endpoints e JOIN rate_windows w USING (account_id) WHERE w.day_used >= $1 AND e.deleted_at IS NULL`,
    [PER_DAY],
  );
  expect(rows).toEqual([]);
  await later.stop();
});
