import { readFile } from 'node:fs/promises';
import { ConfigError } from '@berth/lifecycle';
import { SCOPES, type AccountId, type EndpointId } from '@berth/domain';
import { hashApiKey, makeApiKey } from '@berth/http';
import { SeededRandom } from '@berth/testing';
import { describe, expect, jest, test } from '@jest/globals';
import { Database } from '../src/persistence/database.js';
import { describeSchema } from '../src/persistence/describe-schema.js';
import { AccountEntity, ApiKeyEntity } from '../src/persistence/entities/index.js';
import { FirstTables1763700000000 } from '../src/persistence/migrations/1763700000000-first-tables.js';
import { EndpointsStore } from '../src/persistence/stores/endpoints.store.js';
import { migrate } from '../src/persistence/migrate.js';
import { seedAccount } from '../src/persistence/seed-account.js';
import { SPEC, useFleetBench } from './fleet-bench.js';
import { endpointSeals } from './secret-box.js';

// Real servers on a machine that may be busy with other tests: a passing test is far quicker.
jest.setTimeout(60_000);

const bench = useFleetBench();
/** As the program of the first schema wrote them. */
const FIRST_ROWS = [
  `CREATE TABLE schema_migrations (id serial PRIMARY KEY, timestamp bigint NOT NULL, name varchar NOT NULL)`,
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

describe('the seeded account', () => {
  const keys = new SeededRandom(1);
  const seed = (key: string): Promise<boolean> => seedAccount(new Database(bench.source), key, bench.clock);
  const keyRow = (): Promise<ApiKeyEntity> =>
    bench.source.getRepository(ApiKeyEntity).findOneByOrFail({ id: 'default' });

  test('has the given key with every scope, and seeding it again changes nothing', async () => {
    const { hash, key, prefix } = makeApiKey(keys);
    expect(await seed(key)).toBe(true);
    expect(await seed(key)).toBe(false);
    expect(await keyRow()).toMatchObject({ accountId: 'default', prefix, hash, scopes: [...SCOPES], expiresAt: null });
  });

  test('gets another key in place of the old one', async () => {
    await seed(makeApiKey(keys).key);
    const { key } = makeApiKey(keys);
    expect(await seed(key)).toBe(true);
    expect((await keyRow()).hash).toBe(hashApiKey(key));
    expect(await bench.source.getRepository(ApiKeyEntity).count()).toBe(1);
  });

  test('comes back when it was deleted', async () => {
    const { key } = makeApiKey(keys);
    await seed(key);
    const accounts = bench.source.getRepository(AccountEntity);
    await accounts.update({ id: 'default' }, { deletedAt: new Date(0) });
    expect(await seed(key)).toBe(true);
    expect(await accounts.findOneByOrFail({ id: 'default' })).toMatchObject({ deletedAt: null });
  });

  test('is made once by several who come at once', async () => {
    const { key } = makeApiKey(keys);
    await Promise.all(Array.from({ length: 4 }, () => seed(key)));
    expect(await keyRow()).toMatchObject({ hash: hashApiKey(key) });
  });

  test.each(['', 'secret', 'bk_short_x', `bk_prefix12_${'A'.repeat(40)}`])(
    'refuses "%s", which is no key',
    async (text) => {
      await expect(seed(text)).rejects.toBeInstanceOf(ConfigError);
    },
  );
});
