import { readFile } from 'node:fs/promises';
import { systemClock } from '@berth/lifecycle';
import { silentLogger } from '@berth/telemetry';
import { SCOPES, type AccountId, type EndpointId, type JobId } from '@berth/domain';
import { makeApiKey } from '@berth/http';
import { SeededRandom } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Database } from '../src/persistence/database.js';
import { describeSchema } from '../src/persistence/describe-schema.js';
import { AccountEntity, ApiKeyEntity } from '../src/persistence/entities/index.js';
import { JobHistoryPartitions } from '../src/job-history/job-history-partitions.js';
import { FirstTables1763700000000 } from '../src/persistence/migrations/first-schema/1763700000000-first-tables.js';
import { EndpointsStore } from '../src/endpoints/endpoints.store.js';
import { JobHistoryStore } from '../src/job-history/job-history.store.js';
import { migrate, waitUntilMigrated } from '../src/persistence/migrate.js';
import { seedAccount, type SeedKey, type SeedOutcome } from '../src/accounts/seed-account.js';
import { SPEC, useFleetBench } from './fleet-bench.js';
import { endedRow } from './job-history-samples.js';
import { endpointSeals } from './secret-box.js';

const bench = useFleetBench();
const SCHEMA_MIGRATIONS = `CREATE TABLE schema_migrations (id serial PRIMARY KEY, timestamp bigint NOT NULL, name varchar NOT NULL)`;
/** As the program of the first schema wrote them. */
const FIRST_ROWS = [
  SCHEMA_MIGRATIONS,
  `INSERT INTO schema_migrations (timestamp, name) VALUES (1763700000000, 'FirstTables1763700000000')`,
  `INSERT INTO accounts (id, name) VALUES ('a1', 'first')`,
  `INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes)
     VALUES ('k1', 'a1', 'key', 'abcdefgh1234', repeat('0', 64), '{jobs:read}')`,
  `INSERT INTO endpoints (id, account_id, spec, release) VALUES ('e1', 'a1', '${JSON.stringify(SPEC)}', 2)`,
  `INSERT INTO releases (endpoint_id, release, container)
     SELECT 'e1', ordinal, '${JSON.stringify(SPEC.container)}' FROM generate_series(1, 2) AS ordinal`,
  `INSERT INTO hosts (id, name, data_center_id) VALUES ('h1', 'host', 'LOCAL-1')`,
  `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources)
     VALUES ('w1', 'e1', 'h1', 1, 'running', '{"vcpus":2,"memoryBytes":1,"diskBytes":1,"gpuTypeId":null,"gpuCount":0}')`,
];

const GOLDEN = new URL('../src/persistence/schema.golden.sql', import.meta.url);

describe('migrating', () => {
  test('makes the schema as it was reviewed (`npm run db:schema` writes it anew)', async () => {
    expect(await describeSchema(bench.source)).toBe(await readFile(GOLDEN, 'utf8'));
  });

  test('runs each migration once, also when several come at once', async () => {
    const url = await bench.postgres.freshDatabase();
    const sources = await Promise.all(Array.from({ length: 4 }, () => bench.connect(url)));
    const done = await Promise.all(sources.map((source) => migrate(source)));
    expect(done.flat()).toEqual(bench.source.migrations.map(({ name }) => name));
    await Promise.all(sources.map((source) => source.destroy()));
  });

  test('is waited for by others, who make no table themselves', async () => {
    const url = await bench.postgres.freshDatabase();
    const [worker, waiter] = [await bench.connect(url), await bench.connect(url)];
    const tables = (): Promise<unknown[]> =>
      worker.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);
    const tools = { clock: systemClock, random: new SeededRandom(1), logger: silentLogger };
    await expect(waitUntilMigrated(waiter, { ...tools, looksMax: 2 })).rejects.toThrow('has not got the tables');
    expect(await tables()).toEqual([]);
    const waited = waitUntilMigrated(waiter, tools);
    await migrate(worker);
    await waited;
    await worker.query(`DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations)`);
    await expect(waitUntilMigrated(waiter, { ...tools, looksMax: 1 })).rejects.toThrow('has not got the tables');
    await Promise.all([worker.destroy(), waiter.destroy()]);
  });

  test('leaves the lock free when a migration fails', async () => {
    const url = await bench.postgres.freshDatabase();
    const source = await bench.connect(url);
    await source.query('CREATE TABLE accounts (id text)');
    await expect(migrate(source)).rejects.toThrow('already exists');
    await source.query('DROP TABLE accounts');
    expect(await migrate(source)).toHaveLength(source.migrations.length);
    await source.destroy();
  });
});

test('a database of the first schema keeps everything that is in it', async () => {
  const source = await bench.connect(await bench.postgres.freshDatabase());
  const runner = source.createQueryRunner();
  await new FirstTables1763700000000().up(runner);
  await runner.release();
  for (const statement of FIRST_ROWS) await source.query(statement);
  expect(await migrate(source)).toEqual(source.migrations.map(({ name }) => name).slice(1));
  const endpoints = new EndpointsStore(new Database(source), endpointSeals());
  expect(await endpoints.find('a1' as AccountId, 'e1' as EndpointId)).toMatchObject({
    release: 2,
    version: 1,
    spec: SPEC,
  });
  const [counts] = await source.query<object[]>(
    `SELECT (SELECT count(*) FROM api_keys) AS keys, (SELECT count(*) FROM releases) AS releases,
            (SELECT count(*) FROM workers) AS workers, (SELECT count(*) FROM hosts) AS hosts`,
  );
  expect(counts).toEqual({ keys: '1', releases: '2', workers: '1', hosts: '1' });
  await source.destroy();
});

test('a key that may read everything may read usage too, and no other key gets a scope', async () => {
  const source = await bench.connect(await bench.postgres.freshDatabase());
  await migrateThrough(source, 'WorkerUsage1763800000061');
  await source.query(`INSERT INTO accounts (id, name) VALUES ('a1', 'first')`);
  const before = SCOPES.filter((scope) => scope !== 'usage:read');
  const reading = before.filter((scope) => scope.endsWith(':read'));
  const keys = [before, before.filter((scope) => scope !== 'admin'), reading, reading.slice(1), ['admin']] as const;
  for (const [index, scopes] of keys.entries()) {
    await source.query(
      `INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes)
       VALUES ($1, 'a1', 'key', $2, repeat('0', 64), $3)`,
      [`k${index}`, `prefix000${index}`, scopes],
    );
  }
  await migrate(source);
  const rows = await source.query<{ scopes: string[] }[]>(`SELECT scopes FROM api_keys ORDER BY id`);
  const after = keys.map((scopes, index) => (index < 3 ? [...scopes, 'usage:read'] : scopes));
  expect(rows.map(({ scopes }) => scopes)).toEqual(after);
  await source.destroy();
});

/** As the program wrote them that made the history of records: two ends, and a job that was queued again. */
const ROWS_OF_RECORDS = [
  `INSERT INTO accounts (id, name) VALUES ('a1', 'first')`,
  `WITH endpoint AS (
     INSERT INTO endpoints (id, account_id, spec, release) VALUES ('e1', 'a1', '${JSON.stringify(SPEC)}', 1))
   INSERT INTO releases (endpoint_id, release, container) VALUES ('e1', 1, '${JSON.stringify(SPEC.container)}')`,
  `INSERT INTO job_history (account_id, endpoint_id, job_id, created_at, status, origin, started_at, ended_at, delay_ms,
                            execution_ms, host_id, worker_id, attempts, attempt_list, error, attempt, record_sequence)
   SELECT 'a1', 'e1', id, now(), status, 'run', ended_at, ended_at, 40, 1200, host, host, attempt, '[]', error, attempt, 7
     FROM (VALUES ('done', 'COMPLETED', now(), 'h1', NULL, 1), ('failed', 'FAILED', now(), 'h1', 'it broke', 2),
                  ('again', 'IN_QUEUE', NULL, NULL, NULL, 2)) AS rows (id, status, ended_at, host, error, attempt)`,
  `INSERT INTO job_history_position (stream, sequence, stored_at, complete_until) VALUES ('EV', 7, '2026-01-01', now())`,
];

test('a job history that was made of records is told as it was, and goes on', async () => {
  const source = await bench.connect(await bench.postgres.freshDatabase());
  await migrateThrough(source, 'JobHistoryShards1763800000044');
  const database = new Database(source);
  await new JobHistoryPartitions(database).keep({ past: 8, ahead: 1 });
  for (const statement of ROWS_OF_RECORDS) await source.query(statement);
  expect(await migrate(source)).toContain('JobHistoryOfLogs1763800000045');
  const history = new JobHistoryStore(database, () => 0);
  const endpoint = { accountId: 'a1' as AccountId, endpointId: 'e1' as EndpointId };
  const told = async (): Promise<readonly string[]> => {
    const statuses = ['COMPLETED', 'FAILED'] as const;
    const jobs = await history.list({ ...endpoint, statuses, before: null, limit: 9 });
    return jobs.map(({ jobId }) => jobId).toSorted();
  };
  expect(await told()).toEqual(['done', 'failed']);
  expect(await history.find({ ...endpoint, jobId: 'failed' as JobId })).toMatchObject({
    ...{ status: 'FAILED', error: 'it broke', attempts: 2, executionTimeMs: 1_200, workerId: 'h1' },
  });
  expect(await history.find({ ...endpoint, jobId: 'again' as JobId })).toBeNull();
  const from = { position: { streamCreated: '2026-01-01', sequence: 0 }, completeUntilMs: null };
  await history.begin(0, from.position);
  await history.write([endedRow('new', systemClock.nowMs())], { shard: 0, from, to: from });
  expect(await told()).toEqual(['done', 'failed', 'new']);
  await source.destroy();
});

/** Brings an empty database to where it was once. */
async function migrateThrough(source: DataSource, last: string): Promise<void> {
  await source.query(SCHEMA_MIGRATIONS);
  const runner = source.createQueryRunner();
  const end = source.migrations.findIndex(({ name }) => name === last) + 1;
  for (const migration of source.migrations.slice(0, end)) {
    await migration.up(runner);
    const { name = '' } = migration;
    await source.query('INSERT INTO schema_migrations (timestamp, name) VALUES ($1, $2)', [name.slice(-13), name]);
  }
  await runner.release();
}

describe('the seeded account', () => {
  const keys = new SeededRandom(1);
  const seed = (key: SeedKey): Promise<SeedOutcome> => seedAccount(new Database(bench.source), key, bench.clock);
  const keyRow = (): Promise<ApiKeyEntity> =>
    bench.source.getRepository(ApiKeyEntity).findOneByOrFail({ id: 'default' });

  test('has the given key with every scope, and seeding it again changes nothing', async () => {
    const key = makeApiKey(keys);
    const { hash, prefix } = key;
    expect(await seed(key)).toBe('set');
    expect(await seed(key)).toBe('unchanged');
    expect(await keyRow()).toMatchObject({ accountId: 'default', prefix, hash, scopes: [...SCOPES], expiresAt: null });
  });

  test('gets another key in place of the old one', async () => {
    await seed(makeApiKey(keys));
    const key = makeApiKey(keys);
    expect(await seed(key)).toBe('set');
    expect((await keyRow()).hash).toBe(key.hash);
    expect(await bench.source.getRepository(ApiKeyEntity).count()).toBe(1);
  });

  test('comes back with another key when it was deleted, and not with the one that it had', async () => {
    const [first, second] = [makeApiKey(keys), makeApiKey(keys)];
    await seed(first);
    const accounts = bench.source.getRepository(AccountEntity);
    await accounts.update({ id: 'default' }, { deletedAt: new Date(0) });
    await bench.source.getRepository(ApiKeyEntity).delete({ accountId: 'default' });
    expect(await seed(first)).toBe('withdrawn');
    expect(await accounts.findOneByOrFail({ id: 'default' })).toMatchObject({ deletedAt: new Date(0) });
    expect(await seed(second)).toBe('set');
    expect(await accounts.findOneByOrFail({ id: 'default' })).toMatchObject({ deletedAt: null });
    expect((await keyRow()).hash).toBe(second.hash);
  });

  test('has no key again that was deleted, and none that another took the place of', async () => {
    const [deleted, replaced, last] = [makeApiKey(keys), makeApiKey(keys), makeApiKey(keys)];
    await seed(deleted);
    await bench.source.getRepository(ApiKeyEntity).delete({ id: 'default' });
    expect(await seed(deleted)).toBe('withdrawn');
    expect(await bench.source.getRepository(ApiKeyEntity).count()).toBe(0);
    await seed(replaced);
    await seed(last);
    expect(await seed(replaced)).toBe('withdrawn');
    expect((await keyRow()).hash).toBe(last.hash);
  });

  test('is known where an older version made it: once deleted, it stays so', async () => {
    const source = await bench.connect(await bench.postgres.freshDatabase());
    await migrateThrough(source, 'RemovedNodes1763800000063');
    const key = makeApiKey(keys);
    await source.query(`INSERT INTO accounts (id, name) VALUES ('default', 'default')`);
    await source.query(
      `INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes)
       VALUES ('default', 'default', 'default', $1, $2, $3)`,
      [key.prefix, key.hash, [...SCOPES]],
    );
    await migrate(source);
    const database = new Database(source);
    expect(await seedAccount(database, key, bench.clock)).toBe('unchanged');
    await source.query(`DELETE FROM api_keys`);
    expect(await seedAccount(database, key, bench.clock)).toBe('withdrawn');
    await source.destroy();
  });

  test('is made once by several who come at once', async () => {
    const key = makeApiKey(keys);
    await Promise.all(Array.from({ length: 4 }, () => seed(key)));
    expect(await keyRow()).toMatchObject({ hash: key.hash });
  });
});
