import { usePostgres } from '@berth/testing/servers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { QueryFailedError, type DataSource, type QueryRunner } from 'typeorm';
import { createDataSource } from '../../src/persistence/data-source.js';
import { migrate } from '../../src/persistence/migrate.js';
import { BAD_ROWS, REFUSALS, type BadRow } from './bad-rows.js';
import { FOREIGN, SOUND, type Row, type Table } from './sound-rows.js';

const postgres = usePostgres();
let source: DataSource;
let runner: QueryRunner;

beforeAll(async () => {
  source = createDataSource({ url: await postgres.freshDatabase(), applicationName: 'test', poolMax: 2 });
  await source.initialize();
  await migrate(source);
  await source.query(
    `CREATE TABLE job_history_20260101 PARTITION OF job_history FOR VALUES FROM ('2026-01-01') TO ('2026-01-02')`,
  );
  runner = source.createQueryRunner();
  await runner.startTransaction();
  for (const [table, row] of FOREIGN) await insert(table, row);
  for (const [table, row] of Object.entries(SOUND)) await insert(table as Table, row);
  await runner.commitTransaction();
});

afterAll(async () => {
  await runner.release();
  await source.destroy();
});

/** Around everything that a program of ours would check first. */
async function insert(table: Table, row: Row): Promise<void> {
  const columns = Object.keys(row).join(', ');
  await runner.query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_record(NULL::${table}, $1::jsonb)`,
    [JSON.stringify(row)],
  );
}

/** SQLSTATE with which the work was refused, at the latest when it was to be committed; `accepted` when it was not. */
async function refusalOf(work: () => Promise<unknown>): Promise<string> {
  await runner.startTransaction();
  try {
    await work();
    await runner.query('SET CONSTRAINTS ALL IMMEDIATE');
    return 'accepted';
  } catch (error) {
    if (error instanceof QueryFailedError) return String((error.driverError as { code?: string }).code);
    throw error;
  } finally {
    await runner.rollbackTransaction();
  }
}

/** Where a second row of a table must differ from the first. */
const SECOND: Partial<Record<Table, Row>> = {
  api_keys: { prefix: 'prefix34' },
  pods: { cluster_rank: 1 },
  workers: { observed: { ...SOUND.workers.observed, workerId: 'new' } },
};

const hasId = (table: Table): boolean => 'id' in SOUND[table];

/** Inserts the sound row with a change, as another one of its table where that has ids. */
async function insertSpoiled(table: Table, change: Row): Promise<void> {
  await insert(table, { ...SOUND[table], ...(hasId(table) ? { id: 'new' } : {}), ...SECOND[table], ...change });
  if (table === 'endpoints') await insert('releases', { ...SOUND.releases, endpoint_id: 'new' });
}

describe.each(Object.entries(BAD_ROWS) as [Table, readonly BadRow[]][])('%s', (table, rows) => {
  test('take a second sound row, where it is not the same', async () => {
    const refusal = await refusalOf(() => insertSpoiled(table, {}));
    expect(refusal).toBe(hasId(table) || table === 'audit_entries' ? 'accepted' : REFUSALS.duplicate);
  });

  test.each(rows)('refuse %s', async (_what, change, refusal) => {
    expect(await refusalOf(() => insertSpoiled(table, change))).toBe(REFUSALS[refusal]);
  });
});

describe('what others need', () => {
  const NEEDED: readonly (readonly [Table, string])[] = [
    ['endpoints', `id = 'endpoint'`],
    ['releases', `endpoint_id = 'endpoint'`],
    ['registries', `id = 'registry'`],
    ['network_volumes', `id = 'volume'`],
    ['clusters', `id = 'cluster'`],
  ];

  test.each(NEEDED)('stays: a row of %s', async (table, condition) => {
    const refusal = await refusalOf(() => runner.query(`DELETE FROM ${table} WHERE ${condition}`));
    expect(refusal).toBe(REFUSALS.reference);
  });
});

test('every table has its bad rows', async () => {
  const tables = await source.query<{ name: string }[]>(
    `SELECT relname AS name FROM pg_class
      WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace AND relname <> $1 ORDER BY relname`,
    [source.options.migrationsTableName],
  );
  expect(tables.map(({ name }) => name)).toEqual(Object.keys(BAD_ROWS).toSorted());
});
