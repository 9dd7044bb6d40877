import { countRequest, windowStartMs, type AccountId, type Scope, type Window } from '@berth/domain';
import type { Caller } from '@berth/http';
import { systemClock, type Clock } from '@berth/lifecycle';
import { MetricRegistry, type Logger } from '@berth/telemetry';
import { ManualClock, letRun } from '@berth/testing';
import { usePostgres } from '@berth/testing/servers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../src/persistence/data-source.js';
import { Database } from '../src/persistence/database.js';
import { AccountEntity } from '../src/persistence/entities/index.js';
import { migrate } from '../src/persistence/migrate.js';
import { RATE_WINDOWS, type RateQuotas, RateWindowsStore } from '../src/rate-limits/rate-windows.store.js';
import { AccountRateLimiter } from '../src/rate-limits/account-rate-limiter.js';

const postgres = usePostgres();
const ACCOUNT = 'a1' as AccountId;
const QUOTAS: RateQuotas = { minute: 60, hour: 3_000, day: 50_000 };

let url: string;
let sources: DataSource[];

beforeEach(async () => {
  sources = [];
  url = await postgres.freshDatabase();
  const source = await connect();
  await migrate(source);
  await source.getRepository(AccountEntity).insert({ id: ACCOUNT, name: 'a', createdAt: new Date(0), deletedAt: null });
});
afterEach(async () => {
  await Promise.all(sources.map((source) => source.destroy()));
});

async function connect(poolMax = 10): Promise<DataSource> {
  const source = createDataSource({ url, applicationName: 'test', poolMax });
  await source.initialize();
  sources.push(source);
  return source;
}

const store = async (): Promise<RateWindowsStore> => new RateWindowsStore(new Database(await connect()));

/** From here on the database's clock says what the test says. */
async function takeOverClock(): Promise<(nowMs: number) => Promise<void>> {
  const source = await connect(1);
  await source.query('CREATE TABLE test_clock (at timestamptz NOT NULL)');
  await source.query('INSERT INTO test_clock VALUES (now())');
  await source.query(
    `CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT at FROM public.test_clock'`,
  );
  const [{ name } = { name: '' }] = await source.query<{ name: string }[]>('SELECT current_database() AS name');
  await source.query(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`);
  return async (nowMs) => {
    await source.query('UPDATE test_clock SET at = $1', [new Date(nowMs)]);
  };
}

describe('the windows in the database', () => {
  test('count as the arithmetic says, wherever the clock goes', async () => {
    const setClock = await takeOverClock();
    const windows = await store();
    const pauses = fc.oneof(fc.nat(20_000), fc.nat(4_000_000), fc.integer({ min: 0, max: 90_000_000 }));
    const quotas = fc.record({
      minute: fc.integer({ min: 1, max: 4 }),
      hour: fc.integer({ min: 1, max: 6 }),
      day: fc.integer({ min: 1, max: 8 }),
    });
    let nowMs = Date.UTC(2030, 0, 1);
    await fc.assert(
      fc.asyncProperty(quotas, fc.array(pauses, { maxLength: 20 }), async (quota, steps) => {
        nowMs += 100_000_000;
        let kept: readonly Window[] = RATE_WINDOWS.map((window) => ({
          limit: { ...window, quota: quota[window.name] },
          use: { startedAtMs: 0, used: 0 },
        }));
        for (const step of steps) {
          nowMs += step;
          await setClock(nowMs);
          const expected = countRequest(kept, nowMs);
          kept = kept.map(({ limit }, index) => ({ limit, use: expected.uses[index] ?? { startedAtMs: 0, used: 0 } }));
          const { isAdmitted, nowMs: countedAtMs, used } = await windows.count(ACCOUNT, quota);
          expect({ isAdmitted, countedAtMs }).toEqual({ isAdmitted: expected.isAdmitted, countedAtMs: nowMs });
          expect(RATE_WINDOWS.map(({ name }) => used[name])).toEqual(expected.uses.map((use) => use.used));
        }
      }),
      { numRuns: 25 },
    );
  });

  test('stand still while the clock has jumped back', async () => {
    const setClock = await takeOverClock();
    const windows = await store();
    const quotas = { minute: 2, hour: null, day: null };
    const laterMs = Date.UTC(2030, 0, 1, 0, 1, 5);
    await setClock(laterMs);
    await windows.count(ACCOUNT, quotas);
    await setClock(laterMs - 60_000);
    expect(await windows.count(ACCOUNT, quotas)).toMatchObject({ isAdmitted: true, nowMs: laterMs });
    expect(await windows.count(ACCOUNT, quotas)).toMatchObject({ isAdmitted: false, used: { minute: 2 } });
    await setClock(laterMs + 55_000);
    expect(await windows.count(ACCOUNT, quotas)).toMatchObject({ isAdmitted: true, used: { minute: 1 } });
  });

  test('admit exactly their quota of 200 requests that come at once over two processes', async () => {
    const [one, other] = [await store(), await store()];
    const counts = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        (index % 2 === 0 ? one : other).count(ACCOUNT, { minute: null, hour: null, day: 60 }),
      ),
    );
    expect(counts.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(60);
    expect(counts.map(({ used }) => used.day).sort((a, b) => a - b)).toEqual([
      ...Array.from({ length: 60 }, (_, index) => index + 1),
      ...Array.from({ length: 140 }, () => 60),
    ]);
  });

  test('are each account’s own, and go with it', async () => {
    const windows = await store();
    const [source] = sources;
    await source?.getRepository(AccountEntity).insert({ id: 'a2', name: 'a', createdAt: new Date(0), deletedAt: null });
    await windows.count(ACCOUNT, QUOTAS);
    expect(await windows.count('a2' as AccountId, QUOTAS)).toMatchObject({ used: { day: 1 } });
    await source?.getRepository(AccountEntity).delete({ id: ACCOUNT });
    expect(await source?.query('SELECT account_id FROM rate_windows')).toEqual([{ account_id: 'a2' }]);
    await expect(windows.count(ACCOUNT, QUOTAS)).rejects.toThrow('violates foreign key constraint');
  });

  test('outlive the database’s own restart', async () => {
    await (await store()).count(ACCOUNT, QUOTAS);
    await Promise.all(sources.splice(0).map((source) => source.destroy()));
    await postgres.restart();
    expect(await (await store()).count(ACCOUNT, QUOTAS)).toMatchObject({ used: { day: 2 } });
  });

  test('are committed without waiting for the disk, which nobody else notices', async () => {
    const source = await connect(1);
    await new RateWindowsStore(new Database(source)).count(ACCOUNT, QUOTAS);
    expect(await source.query('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
  });

  test.each([
    ['fewer than none', `('a1', now(), -1, 0, 0, true)`],
    ['no account', `('nobody', now(), 0, 0, 0, true)`],
  ])('refuse a row of %s', async (_, row) => {
    const insert = `INSERT INTO rate_windows (account_id, at, minute_used, hour_used, day_used, is_admitted) VALUES ${row}`;
    await expect(sources[0]?.query(insert)).rejects.toThrow(/violates (check|foreign key) constraint/);
  });
});

const callerWith = (...scopes: Scope[]): Caller => ({
  keyId: 'k',
  accountId: ACCOUNT,
  scopes,
  endpointIds: null,
  expiresAtMs: null,
});
const TENANT = callerWith('serverless:read');

function limiterOn(windows: RateWindowsStore, clock: Clock = new ManualClock(), quotas = QUOTAS) {
  const warnings: string[] = [];
  const metrics = new MetricRegistry();
  const logger = { warn: (message: string) => warnings.push(message) } as unknown as Logger;
  const limiter = new AccountRateLimiter({ windows, quotas, clock, logger, metrics });
  const unchecked = async (): Promise<string> =>
    /^berth_management_rate_limit_unchecked_total (\d+)$/m.exec(await metrics.text())?.[1] ?? 'none';
  return { limiter, warnings, unchecked };
}

describe('a limiter', () => {
  test('tells each request what is left, and refuses the first above a quota', async () => {
    const setClock = await takeOverClock();
    await setClock(Date.UTC(2030, 0, 1, 11, 29, 48));
    const { limiter } = limiterOn(await store(), new ManualClock(), { ...QUOTAS, minute: 2 });
    expect(await limiter.admit(TENANT)).toEqual({
      spent: null,
      windows: [
        { name: 'minute', quota: 2, seconds: 60, remaining: 1, resetSeconds: 12 },
        { name: 'hour', quota: 3_000, seconds: 3_600, remaining: 2_999, resetSeconds: 1_812 },
        { name: 'day', quota: 50_000, seconds: 86_400, remaining: 49_999, resetSeconds: 45_012 },
      ],
    });
    expect(await limiter.admit(TENANT)).toMatchObject({ spent: null });
    for (let again = 0; again < 3; again += 1) {
      expect(await limiter.admit(TENANT)).toMatchObject({
        spent: { name: 'minute', resetSeconds: 12 },
        windows: [{ remaining: 0 }, { remaining: 2_998 }, { remaining: 49_998 }],
      });
    }
  });

  test('has no limits for operators, or where all are off', async () => {
    const windows = await store();
    const { limiter } = limiterOn(windows);
    expect(await limiter.admit(callerWith('serverless:read', 'admin'))).toBeNull();
    const off = limiterOn(windows, new ManualClock(), { minute: null, hour: null, day: null });
    expect(await off.limiter.admit(TENANT)).toBeNull();
    expect(await sources[0]?.query('SELECT 1 FROM rate_windows')).toEqual([]);
  });

  test('lets a request through when the database does not answer in time, counts it and says so', async () => {
    const clock = new ManualClock();
    const { limiter, unchecked, warnings } = limiterOn(await store(), clock);
    await limiter.admit(TENANT);
    const other = await connect(1);
    await other.transaction(async (manager) => {
      await manager.query('SELECT 1 FROM rate_windows FOR UPDATE');
      const admitting = limiter.admit(TENANT);
      await letRun();
      await clock.advance(1_000);
      expect(await admitting).toBeNull();
    });
    expect([await unchecked(), warnings]).toEqual(['1', ['rate limits cannot be checked; requests are let through']]);
  });

  test('lets requests through while there is no database, with one line in ten seconds', async () => {
    const clock = new ManualClock();
    const { limiter, unchecked, warnings } = limiterOn(await store(), clock);
    await postgres.server.kill();
    try {
      for (let request = 0; request < 5; request += 1) expect(await limiter.admit(TENANT)).toBeNull();
      expect([await unchecked(), warnings.length]).toEqual(['5', 1]);
      await clock.advance(10_000);
      expect(await limiter.admit(TENANT)).toBeNull();
      expect([await unchecked(), warnings.length]).toEqual(['6', 2]);
    } finally {
      await postgres.restart('kill');
    }
    expect(await limiter.admit(TENANT)).toMatchObject({ spent: null });
  });

  test('answers 200 requests of one account at once, all counted', async () => {
    const { limiter, unchecked } = limiterOn(await store(), systemClock, { ...QUOTAS, minute: null });
    const verdicts = await Promise.all(Array.from({ length: 200 }, () => limiter.admit(TENANT)));
    expect([verdicts.filter((verdict) => verdict !== null).length, await unchecked()]).toEqual([200, '0']);
  });
});

test('windows begin at the same instants in the domain and in the database', async () => {
  const atMs = Date.UTC(2030, 5, 15, 13, 37, 42, 123);
  const [row] =
    (await sources[0]?.query<Record<string, Date>[]>(
      `SELECT date_trunc('minute', $1::timestamptz, 'UTC') AS minute, date_trunc('hour', $1::timestamptz, 'UTC') AS hour,
            date_trunc('day', $1::timestamptz, 'UTC') AS day`,
      [new Date(atMs)],
    )) ?? [];
  for (const { name, seconds } of RATE_WINDOWS) {
    expect(row?.[name]?.getTime()).toBe(windowStartMs({ name, seconds, quota: 1 }, atMs));
  }
});
