import { readFile } from 'node:fs/promises';
import { ConfigError } from '@berth/lifecycle';
import { SCOPES } from '@berth/domain';
import { hashApiKey, makeApiKey } from '@berth/http';
import { SeededRandom } from '@berth/testing';
import { describe, expect, jest, test } from '@jest/globals';
import { Database } from '../src/persistence/database.js';
import { describeSchema } from '../src/persistence/describe-schema.js';
import { AccountEntity, ApiKeyEntity } from '../src/persistence/entities/index.js';
import { migrate } from '../src/persistence/migrate.js';
import { seedAccount } from '../src/persistence/seed-account.js';
import { useFleetBench } from './fleet-bench.js';

// Real servers on a machine that may be busy with other tests: a passing test is far quicker.
jest.setTimeout(60_000);

const bench = useFleetBench();
const GOLDEN = new URL('../src/persistence/schema.golden.sql', import.meta.url);

describe('migrating', () => {
  test('makes the schema as it was reviewed (`npm run db:schema` writes it anew)', async () => {
    expect(await describeSchema(bench.source)).toBe(await readFile(GOLDEN, 'utf8'));
  });

  test('runs each migration once, also when several come at once', async () => {
    const url = await bench.postgres.freshDatabase();
    const sources = await Promise.all(Array.from({ length: 4 }, () => bench.connect(url)));
    const done = await Promise.all(sources.map((source) => migrate(source)));
    expect(done.flat()).toEqual(['FirstTables1763700000000']);
    await Promise.all(sources.map((source) => source.destroy()));
  });

  test('leaves the lock free when a migration fails', async () => {
    const url = await bench.postgres.freshDatabase();
    const source = await bench.connect(url);
    await source.query('CREATE TABLE accounts (id text)');
    await expect(migrate(source)).rejects.toThrow('already exists');
    await source.query('DROP TABLE accounts');
    expect(await migrate(source)).toHaveLength(1);
    await source.destroy();
  });
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

const HASH = 'a'.repeat(64);
const WORKER = `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources) VALUES`;
const HOST = `INSERT INTO hosts (id, name, data_center_id`;
const KEY = `INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes) VALUES`;
const SCALING = `INSERT INTO endpoint_scaling (endpoint_id, desired, reason, detail, decided_at`;

describe('the database itself refuses', () => {
  const broken: readonly [string, string][] = [
    ['an account without a name', `INSERT INTO accounts (id, name) VALUES ('a', '')`],
    ['a name of 256 characters', `INSERT INTO accounts (id, name) VALUES ('a', '${'x'.repeat(256)}')`],
    ['a key of no account', `${KEY} ('k', 'nobody', 'k', 'p', '${HASH}', '{jobs:read}')`],
    ['a key whose hash is none', `${KEY} ('k', 'account', 'k', 'p', 'plain', '{jobs:read}')`],
    ['a key without a scope', `${KEY} ('k', 'account', 'k', 'p', '${HASH}', '{}')`],
    [
      'an endpoint of no account',
      `INSERT INTO endpoints (id, account_id, spec, release) VALUES ('e', 'nobody', '{}', 1)`,
    ],
    [
      'a spec that is no object',
      `INSERT INTO endpoints (id, account_id, spec, release) VALUES ('e', 'account', '[]', 1)`,
    ],
    ['release 0', `INSERT INTO endpoints (id, account_id, spec, release) VALUES ('e', 'account', '{}', 0)`],
    ['a host in no data center', `${HOST}) VALUES ('h', 'h', '')`],
    ['an unknown host intent', `${HOST}, intent) VALUES ('h', 'h', 'dc', 'gone')`],
    ['an inventory that is no object', `${HOST}, inventory) VALUES ('h', 'h', 'dc', 'null')`],
    ['a host secret in plain text', `${HOST}, secret_hash) VALUES ('h', 'h', 'dc', 'secret')`],
    ['a token of no host', `INSERT INTO join_tokens (host_id, hash, expires_at) VALUES ('h', '${HASH}', now())`],
    ['a worker of no endpoint', `${WORKER} ('w', 'nothing', 'h1', 1, 'running', '{}')`],
    ['a worker on no host', `${WORKER} ('w', 'e1', 'nowhere', 1, 'running', '{}')`],
    ['an unknown worker intent', `${WORKER} ('w', 'e1', 'h1', 1, 'paused', '{}')`],
    ['a worker of release 0', `${WORKER} ('w', 'e1', 'h1', 0, 'running', '{}')`],
    ['resources that are no object', `${WORKER} ('w', 'e1', 'h1', 1, 'running', '1')`],
    ['a decision about no endpoint', `${SCALING}) VALUES ('nothing', 1, '', '', now())`],
    ['fewer than no workers', `${SCALING}) VALUES ('e1', -1, '', '', now())`],
    ['waiting workers that are no list', `${SCALING}, waiting) VALUES ('e1', 1, '', '', now(), '{}')`],
    ['term 0', `INSERT INTO leader_leases (name, holder, term, expires_at) VALUES ('l', 'h', 0, now())`],
  ];

  test('rows that break a check or name what is not there', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    const refusal = async (statement: string): Promise<string> =>
      bench.source.query(statement).then(
        () => 'accepted',
        (error: unknown) => String(error),
      );
    for (const [what, statement] of broken) {
      expect([what, await refusal(statement)]).toEqual([
        what,
        expect.stringMatching(/violates (check|foreign key) constraint/),
      ]);
    }
  });

  test('two keys with one prefix', async () => {
    const insert = (id: string): Promise<unknown> =>
      bench.source.query(`${KEY} ('${id}', 'account', 'k', 'p', '${HASH}', '{jobs:read}')`);
    await insert('one');
    await expect(insert('two')).rejects.toThrow('violates unique constraint');
  });

  test('to lose an endpoint that has workers', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await bench.source.query(`${WORKER} ('w', 'e1', 'h1', 1, 'running', '{}')`);
    await expect(bench.source.query(`DELETE FROM endpoints`)).rejects.toThrow('violates foreign key constraint');
  });
});
