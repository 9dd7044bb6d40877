import type { AccountId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { parseUsageCursor } from '../src/usage/usage-cursor.js';
import { UsageReportStore } from '../src/usage/usage-report.store.js';
import { UsageStore } from '../src/usage/usage.store.js';
import { Database } from '../src/persistence/database.js';
import { QUEUE_ENDPOINT, failedPaths, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

const RANGE = 'start=2026-03-28T00:00:00Z&end=2026-03-31T00:00:00Z';
const L4 = 'NVIDIA L4';

interface Sum {
  readonly start: string;
  readonly endpointId?: string;
  readonly endpointName?: string | null;
  readonly gpuTypeId?: string | null;
  readonly workerSeconds: number;
}

let key: string;
let accountId: string;
/** In the order of their ids, which is that of the sums of an hour. */
let endpoints: readonly string[];

const accountOf = async (ofKey: string): Promise<string> => {
  const [row] = await bench.source.query<{ account_id: string }[]>(
    `SELECT account_id FROM api_keys WHERE prefix = $1`,
    [ofKey.split('_')[1]],
  );
  return row?.account_id ?? '';
};

const newEndpoint = async (ofKey: string): Promise<string> =>
  (await bench.call('POST /v2/serverless', { key: ofKey, body: QUEUE_ENDPOINT })).body.id as string;

/** @param seconds of workers, GPUs, paused workers and paused GPUs */
const used = (
  hour: string,
  [endpointId, gpuTypeId, ofAccount = accountId]: readonly [string | undefined, string, string?],
  seconds: readonly number[],
): Promise<unknown> =>
  bench.source.query(
    `INSERT INTO usage_hours (account_id, hour, endpoint_id, gpu_type_id, worker_ms, gpu_ms, paused_worker_ms, paused_gpu_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [ofAccount, hour, endpointId, gpuTypeId, ...[0, 1, 2, 3].map((index) => Math.round((seconds[index] ?? 0) * 1_000))],
  );

const ask = (query: string, ofKey = key): Promise<Answer> => bench.call(`GET /v2/usage?${query}`, { key: ofKey });

const sumsOf = async (query: string, ofKey = key): Promise<readonly Sum[]> => {
  const { body, status } = await ask(query, ofKey);
  expect([status, body.errors]).toEqual([200, undefined]);
  return body.usage as Sum[];
};

beforeEach(async () => {
  key = await bench.newAccount();
  accountId = await accountOf(key);
  endpoints = [await newEndpoint(key), await newEndpoint(key)].toSorted();
});

describe('sums', () => {
  test('of an hour are told for each endpoint, all types of GPU together, running and paused apart', async () => {
    await used('2026-03-28T09:00:00Z', [endpoints[0], L4], [1.5, 3, 0.25, 0.5]);
    await used('2026-03-28T09:00:00Z', [endpoints[0], ''], [10]);
    await used('2026-03-28T10:00:00Z', [endpoints[1], ''], [7]);
    expect(await ask(RANGE)).toMatchObject({
      status: 200,
      body: {
        ...{ bucket: 'hour', start: '2026-03-28T00:00:00.000Z', end: '2026-03-31T00:00:00.000Z', cursor: null },
        usage: [
          {
            ...{ start: '2026-03-28T09:00:00.000Z', endpointId: endpoints[0], endpointName: 'echo' },
            ...{ workerSeconds: 11.5, gpuSeconds: 3, pausedWorkerSeconds: 0.25, pausedGpuSeconds: 0.5 },
          },
          { start: '2026-03-28T10:00:00.000Z', endpointId: endpoints[1], workerSeconds: 7, gpuSeconds: 0 },
        ],
      },
    });
  });

  test('are told apart by what is asked for, and have no member of anything else', async () => {
    await used('2026-03-28T09:00:00Z', [endpoints[0], L4], [1]);
    await used('2026-03-28T09:00:00Z', [endpoints[1], L4], [2]);
    await used('2026-03-28T09:00:00Z', [endpoints[1], ''], [4]);
    const grouped = async (groupBy: string) =>
      (await sumsOf(`${RANGE}&groupBy=${groupBy}`)).map(({ endpointId, gpuTypeId, workerSeconds }) => [
        ...[endpointId, gpuTypeId, workerSeconds],
      ]);
    expect(await grouped('endpoint')).toEqual([
      [endpoints[0], undefined, 1],
      [endpoints[1], undefined, 6],
    ]);
    expect(await grouped('gpuType')).toEqual([
      [undefined, null, 4],
      [undefined, L4, 3],
    ]);
    const both = [
      [endpoints[0], L4, 1],
      [endpoints[1], null, 4],
      [endpoints[1], L4, 2],
    ];
    for (const groupBy of ['endpoint,gpuType', 'gpuType,endpoint', 'gpuType&groupBy=endpoint,endpoint']) {
      expect(await grouped(groupBy)).toEqual(both);
    }
    expect(Object.keys((await sumsOf(`${RANGE}&groupBy=gpuType`))[0] ?? {})).not.toContain('endpointName');
  });

  test('of days are those of UTC, where clocks are turned as anywhere', async () => {
    // Berlin's clocks are turned at 01:00 UTC of the 29th, and its days are an hour, then two, ahead.
    for (const [hour, seconds] of [
      ['2026-03-28T23:00:00Z', 1],
      ['2026-03-29T00:00:00Z', 2],
      ['2026-03-29T01:00:00Z', 4],
      ['2026-03-29T22:00:00Z', 8],
      ['2026-03-29T23:00:00Z', 16],
      ['2026-03-30T00:00:00Z', 32],
    ] as const) {
      await used(hour, [endpoints[0], ''], [seconds]);
    }
    const days = [
      ['2026-03-28T00:00:00.000Z', 1],
      ['2026-03-29T00:00:00.000Z', 30],
      ['2026-03-30T00:00:00.000Z', 32],
    ];
    expect((await sumsOf(`${RANGE}&bucket=day`)).map(({ start, workerSeconds }) => [start, workerSeconds])).toEqual(
      days,
    );
    const database = new Database(bench.source);
    const inBerlin = await database.transaction(async (manager) => {
      await manager.query(`SET LOCAL TIME ZONE 'Europe/Berlin'`);
      return new UsageReportStore(database).list({
        ...{ accountId: accountId as AccountId, endpointIds: null, after: null, limit: 10 },
        ...{ startMs: Date.UTC(2026, 2, 28), endMs: Date.UTC(2026, 2, 31), bucketMs: 24 * 3_600_000 },
        ...{ isByEndpoint: true, isByGpuType: false },
      });
    });
    expect(inBerlin.map(({ atMs, workerMs }) => [new Date(atMs).toISOString(), workerMs / 1_000])).toEqual(days);
  });

  test('are exact to the millisecond up to 2^42 s', async () => {
    const seconds = 2 ** 42 - 0.001;
    await used('2026-03-28T09:00:00Z', [endpoints[0], ''], [seconds]);
    await used('2026-03-28T10:00:00Z', [endpoints[0], ''], [0.001]);
    expect((await sumsOf(RANGE)).map(({ workerSeconds }) => workerSeconds)).toEqual([4_398_046_511_103.999, 0.001]);
    expect(await sumsOf(`${RANGE}&bucket=day`)).toMatchObject([{ workerSeconds: 2 ** 42 }]);
    // What the rows could hold at most.
    await bench.source.query(`UPDATE usage_hours SET gpu_ms = 9223372036854775807 WHERE account_id = $1`, [accountId]);
    expect(await sumsOf(`${RANGE}&bucket=day`)).toMatchObject([{ gpuSeconds: (2 * 2 ** 63) / 1_000 }]);
  });

  test('keep what deleted endpoints used, without their names', async () => {
    await used('2026-03-28T09:00:00Z', [endpoints[0], ''], [1]);
    expect(await bench.call(`DELETE /v2/serverless/${endpoints[0]}`, { key })).toMatchObject({ status: 204 });
    const deleted = [{ endpointId: endpoints[0], endpointName: null, workerSeconds: 1 }];
    expect(await sumsOf(RANGE)).toMatchObject(deleted);
    await bench.source.query(`DELETE FROM endpoints WHERE id = $1`, [endpoints[0]]);
    expect(await sumsOf(`${RANGE}&endpointId=${endpoints[0]}`)).toMatchObject(deleted);
  });
});

describe('the range', () => {
  test('has every hour that it touches, and says which', async () => {
    for (const hour of ['08', '09', '10', '11']) await used(`2026-03-28T${hour}:00:00Z`, [endpoints[0], ''], [1]);
    const hoursOf = async (query: string): Promise<readonly string[]> =>
      (await sumsOf(query)).map(({ start }) => start.slice(11, 13));
    expect(await hoursOf('start=2026-03-28T09:00:00Z&end=2026-03-28T11:00:00Z')).toEqual(['09', '10']);
    expect(await hoursOf('start=2026-03-28T09:59:59.999Z&end=2026-03-28T10:00:00.001Z')).toEqual(['09', '10']);
    expect(await hoursOf('start=2026-03-28T11:00:00%2B01:00&end=2026-03-28T13:00:00%2B02:00')).toEqual(['10']);
    expect((await ask('start=2026-03-28T09:59:59Z&end=2026-03-28T10:00:01Z')).body).toMatchObject({
      ...{ start: '2026-03-28T09:00:00.000Z', end: '2026-03-28T11:00:00.000Z' },
    });
  });

  test('is the last 24 hours, or 30 days, unless said', async () => {
    for (const [query, hours] of [
      ['', 24],
      ['bucket=day', 720],
    ] as const) {
      const { body } = await ask(query);
      expect(Date.parse(body.end as string) - Date.parse(body.start as string)).toBe(hours * 3_600_000);
    }
  });
});

test('what cannot be answered is 400 and names its field', async () => {
  const faults = [
    ['start=yesterday', '$.start'],
    ['start=2026-03-28', '$.start'],
    ['start=2026-02-30T25:00:00Z', '$.start'],
    ['start=2026-03-28T11:00:00+01:00', '$.start'],
    ['start=1999-12-31T23:59:59Z', '$.start'],
    ['end=3000-01-01T00:00:00Z', '$.end'],
    ['end=2026-03-28T00:00:00Z&start=2026-03-28T00:00:00Z', '$.start'],
    ['end=2026-03-28T00:00:00Z&start=2026-02-24T23:59:59Z', '$.start'],
    ['bucket=day&end=2026-03-28T00:00:00Z&start=2025-03-26T23:59:59Z', '$.start'],
    ['start=2000-01-01T00:00:00Z', '$.start'],
    ['start=2999-01-01T00:00:00Z', '$.start'],
    ['start=2026-03-28T00:00:00Z&start=2026-03-29T00:00:00Z', '$.start'],
    ['bucket=week', '$.bucket'],
    ['bucket=hour&bucket=day', '$.bucket'],
    ['groupBy=account', '$.groupBy'],
    ['groupBy=', '$.groupBy'],
    ['groupBy=account_id);--', '$.groupBy'],
    ['endpointId=', '$.endpointId'],
    ['endpointId=a%00b', '$.endpointId'],
    ['endpointId=a&endpointId=b', '$.endpointId'],
    [`endpointId=${'a'.repeat(256)}`, '$.endpointId'],
    ['limit=0', '$.limit'],
    ['limit=-1', '$.limit'],
    ['limit=1001', '$.limit'],
    ['limit=1e9', '$.limit'],
    ['limit=1000000000', '$.limit'],
    ['cursor=', '$.cursor'],
    ['cursor=4711', '$.cursor'],
    ["cursor=' OR 1=1 --", '$.cursor'],
    ['accountId=default', '$'],
  ] as const;
  for (const [query, field] of faults) {
    const answer = await ask(query);
    expect([query, answer.status, failedPaths(answer)]).toEqual([query, 400, [field]]);
  }
});

describe('pages', () => {
  const walk = async (query: string, between: () => Promise<unknown> = async () => undefined): Promise<Sum[]> => {
    const told: Sum[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: Answer = await ask(`${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
      told.push(...(body.usage as Sum[]));
      cursor = body.cursor as string | null;
      await between();
    }
    return told;
  };

  const keyOf = ({ endpointId, gpuTypeId, start }: Sum): string =>
    `${start} ${String(endpointId)} ${String(gpuTypeId)}`;

  beforeEach(async () => {
    for (const hour of ['2026-03-28T09', '2026-03-28T10', '2026-03-29T00', '2026-03-30T23']) {
      for (const endpoint of endpoints) {
        for (const gpuType of ['', L4]) await used(`${hour}:00:00Z`, [endpoint, gpuType], [1]);
      }
    }
  });

  test.each([
    '',
    '&bucket=day',
    '&groupBy=gpuType',
    '&groupBy=endpoint,gpuType',
    '&bucket=day&groupBy=gpuType,endpoint',
  ])('have each sum once, in one order: %s', async (query) => {
    const whole = await sumsOf(`${RANGE}${query}`);
    for (const limit of [1, 2, 3]) expect(await walk(`${RANGE}${query}&limit=${limit}`)).toEqual(whole);
    const { body } = await ask(`${RANGE}${query}&limit=${whole.length}`);
    expect([body.usage, body.cursor]).toEqual([whole, null]);
  });

  test('have all that was there at the first page, and nothing twice, while it is counted', async () => {
    const query = `${RANGE}&groupBy=endpoint,gpuType&limit=2`;
    const before = await sumsOf(`${RANGE}&groupBy=endpoint,gpuType`);
    let rounds = 0;
    const told = await walk(query, async () => {
      rounds += 1;
      await used(`2026-03-29T${String(rounds).padStart(2, '0')}:00:00Z`, [endpoints[rounds % 2], L4], [1]);
      await used(`2026-03-28T${String(rounds).padStart(2, '0')}:00:00Z`, ['0000', L4], [1]);
      await bench.source.query(`UPDATE usage_hours SET worker_ms = worker_ms + 1 WHERE account_id = $1`, [accountId]);
    });
    const keys = told.map(keyOf);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toEqual(expect.arrayContaining(before.map(keyOf)));
    expect(told.map(({ start }) => start)).toEqual(told.map(({ start }) => start).toSorted());
  });

  test('of another account, or made up, name a place in the own sums and nothing else', async () => {
    const other = await bench.newAccount();
    const { body } = await ask(`${RANGE}&limit=1`);
    const cursor = body.cursor as string;
    expect(parseUsageCursor(cursor)).toMatchObject({ endpointId: endpoints[0], gpuTypeId: null });
    expect((await ask(`${RANGE}&cursor=${cursor}`, other)).body).toMatchObject({ usage: [], cursor: null });
    const forged = (...place: readonly unknown[]): string => Buffer.from(JSON.stringify(place)).toString('base64url');
    for (const atMs of [0, Date.parse('2026-03-28T09:30:00Z'), Date.UTC(3000)]) {
      const answer = await ask(`${RANGE}&cursor=${forged(atMs, "'; DROP TABLE usage_hours; --", null)}`);
      expect(answer.status).toBe(200);
      for (const sum of answer.body.usage as Sum[]) expect(endpoints).toContain(sum.endpointId);
    }
    const none = [
      ...[forged(), forged('now', 'a', null), forged(1.5, 'a', null), forged(9e15, 'a', null), forged(null, 'a', null)],
      ...[forged(-1, 'a', null), forged(Date.UTC(3001), 'a', null), forged(8.64e15, 'a', null)],
      ...[forged(0, 'a\0', null), forged(0, 'a', null, 1), forged(0, { a: 1 }, null), forged(0, 'a'.repeat(256), null)],
      // Of queries that tell other things apart.
      ...[forged(0, 'a', L4), forged(0, null, L4), forged(0, null, null)],
    ];
    for (const each of none) {
      const answer = await ask(`${RANGE}&cursor=${each}`);
      expect([each, answer.status, failedPaths(answer)]).toEqual([each, 400, ['$.cursor']]);
    }
  });
});

describe('whoever asks', () => {
  test('sees their own account alone, also where ids are the same', async () => {
    const other = await bench.newAccount();
    const [own, foreign] = [endpoints[0], await newEndpoint(other)];
    await used('2026-03-28T09:00:00Z', [own, ''], [1]);
    await used('2026-03-28T09:00:00Z', [own, '', await accountOf(other)], [100]);
    await used('2026-03-28T09:00:00Z', [foreign, '', await accountOf(other)], [100]);
    for (const groupBy of ['endpoint', 'gpuType', 'endpoint,gpuType']) {
      expect(await sumsOf(`${RANGE}&groupBy=${groupBy}`)).toMatchObject([{ workerSeconds: 1 }]);
    }
    const nothing = await ask(`${RANGE}&endpointId=nobodys`);
    expect(nothing.body).toMatchObject({ usage: [], cursor: null });
    const { countedUntil: _, ...empty } = nothing.body as Record<string, unknown>;
    for (const id of [foreign, "' OR ''='", '%25', '*', 'null', '{a,b}']) {
      expect((await ask(`${RANGE}&endpointId=${id}`)).body).toMatchObject(empty);
    }
    // A name is not told of an endpoint that is another's, whatever the rows say.
    expect(await sumsOf(RANGE, other)).toEqual(
      expect.arrayContaining([expect.objectContaining({ endpointId: own, endpointName: null })]),
    );
  });

  test('with a key for some endpoints sees what those used', async () => {
    await used('2026-03-28T09:00:00Z', [endpoints[0], L4], [1]);
    await used('2026-03-28T09:00:00Z', [endpoints[1], L4], [2]);
    const [one = '', another = ''] = endpoints;
    const limited = await bench.newKey(['usage:read'], { maker: key, endpointIds: [another] });
    for (const query of ['', '&groupBy=gpuType', `&endpointId=${another}`]) {
      expect(await sumsOf(`${RANGE}${query}`, limited)).toMatchObject([{ workerSeconds: 2 }]);
    }
    expect(await sumsOf(`${RANGE}&endpointId=${one}`, limited)).toEqual([]);
  });

  test('needs the scope usage:read', async () => {
    expect(await ask('', await bench.keyWithout('usage:read'))).toMatchObject({ status: 403 });
    expect(await ask('', await bench.newKey(['usage:read'], { maker: key }))).toMatchObject({ status: 200 });
    expect(await bench.call('GET /v2/usage', { key: null })).toMatchObject({ status: 401 });
  });
});

describe('countedUntil', () => {
  const SEEN = '2026-03-28T09:30:00.000Z';
  const BEFORE = '2026-03-28T09:29:45.000Z';
  const PLACED = '2026-03-28T09:00:00.000Z';

  const isCountedUntil = async (query = '', ofKey = key): Promise<string> =>
    (await ask(`${RANGE}${query}`, ofKey)).body.countedUntil as string;

  const addWorker = async (id: string, endpointId: string | undefined): Promise<void> => {
    const host = `host-of-${id}`;
    await bench.source.query(
      `INSERT INTO hosts (id, name, data_center_id, last_seen_at) VALUES ($1, 'host', 'LOCAL-1', $2)`,
      [host, SEEN],
    );
    await bench.source.query(
      `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources, created_at)
       VALUES ($1, $2, $3, 1, 'running', '{"vcpus":2,"memoryBytes":1,"diskBytes":1,"gpuTypeId":null,"gpuCount":0}', $4)`,
      [id, endpointId, host, PLACED],
    );
  };

  const isReported = (id: string): Promise<unknown> =>
    bench.source.query(`UPDATE workers SET observed = $2 WHERE id = $1`, [id, { workerId: id, phase: 'preparing' }]);

  const addRun = (workerId: string, endpointId: string | undefined, until: string | null): Promise<unknown> =>
    bench.source.query(
      `INSERT INTO worker_runs (worker_id, account_id, endpoint_id, host_id, gpu_count, use, counted_until, until)
       VALUES ($1, $2, $3, $4, 0, 'running', $5, $6)`,
      [workerId, accountId, endpointId, `host-of-${workerId}`, BEFORE, until],
    );

  test('is now where nothing is waited for, and of the own endpoints alone', async () => {
    await addWorker(`w-${accountId}`, endpoints[0]);
    const startedAtMs = systemClock.nowMs();
    const limited = await bench.newKey(['usage:read'], { maker: key, endpointIds: [endpoints[1] ?? ''] });
    const others = await bench.newAccount();
    for (const told of [await isCountedUntil('', limited), await isCountedUntil('', others)]) {
      expect(Date.parse(told)).toBeGreaterThanOrEqual(startedAtMs);
    }
    expect(await isCountedUntil()).toBe(PLACED);
    expect(await isCountedUntil(`&endpointId=${endpoints[0]}`)).toBe(PLACED);
  });

  test('is when a worker was placed, the last word of its host, where a run is counted to, and where one that has ended is', async () => {
    const id = `w-${accountId}`;
    await addWorker(id, endpoints[0]);
    expect(await isCountedUntil()).toBe(PLACED);
    await isReported(id);
    expect(await isCountedUntil()).toBe(SEEN);
    await addRun(id, endpoints[0], null);
    expect(await isCountedUntil()).toBe(BEFORE);
    const usage = new UsageStore(new Database(bench.source));
    await usage.count(Date.parse(SEEN), 100);
    expect(await isCountedUntil()).toBe(SEEN);
    expect(await sumsOf(RANGE)).toMatchObject([{ endpointId: endpoints[0], workerSeconds: 15 }]);
    await bench.source.query(`DELETE FROM workers WHERE id = $1`, [id]);
    await addRun(`${id}-gone`, endpoints[0], SEEN);
    expect(await isCountedUntil()).toBe(BEFORE);
    await usage.count(Date.parse(SEEN), 100);
    expect(Date.parse(await isCountedUntil())).toBeGreaterThan(Date.parse(SEEN));
    expect(await sumsOf(RANGE)).toMatchObject([{ workerSeconds: 30 }]);
  });
});
