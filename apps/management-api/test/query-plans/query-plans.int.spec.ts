import { usePostgres } from '@berth/testing/servers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/persistence/data-source.js';
import { Database } from '../../src/persistence/database.js';
import { migrate } from '../../src/persistence/migrate.js';
import { BIG_TABLE_ROWS, FILL_TIMEOUT_MS, fillDatabase } from './big-database.js';
import { faultsOf, indexesUsed, planOf, type Catalog, type PlanStep } from './plan-faults.js';
import { StatementRecorder, type Statement } from './statement-recorder.js';
import { storeCases } from './store-cases.js';

/** Filling takes ten seconds on a machine of two cores that does nothing else. */
const FILLED_WITHIN_MS = 180_000;

interface Explained {
  readonly name: string;
  readonly text: string;
  readonly plan: PlanStep;
  readonly faults: readonly string[];
}

const postgres = usePostgres();
let source: DataSource;
let explained: readonly Explained[] = [];
let references: readonly Explained[] = [];
let catalog: Catalog;

beforeAll(async () => {
  const url = await postgres.freshDatabase();
  source = await createDataSource({
    url,
    applicationName: 'test',
    poolMax: 3,
    statementTimeoutMs: FILL_TIMEOUT_MS,
  }).initialize();
  await migrate(source);
  await fillDatabase(source);
  catalog = await readCatalog();
  explained = await explainAll();
  references = await explainReferences();
}, FILLED_WITHIN_MS);

afterAll(() => source.destroy());

/** Statements first: what was taken back leaves its traces, and the plans shall be those of a table that was cleaned. */
async function explainAll(): Promise<readonly Explained[]> {
  const recorder = new StatementRecorder(source);
  const database = new Database(source);
  const sent: { name: string; statement: Statement; whole: ReadonlySet<string> }[] = [];
  for (const { call, name, reads } of storeCases(database, source)) {
    const statements = await recorder.record((inside) => database.run(inside), call);
    const whole = new Set(Object.keys(reads));
    sent.push(...statements.map((statement) => ({ name, statement, whole })));
  }
  await source.query('VACUUM ANALYZE');
  const plans: Explained[] = [];
  for (const { name, statement, whole } of sent) {
    const plan = await planOf(source, statement);
    plans.push({ name, text: statement.text, plan, faults: faultsOf(plan, catalog, whole) });
  }
  return plans;
}

/** What the database itself does when a row goes that others may refer to. */
async function explainReferences(): Promise<readonly Explained[]> {
  const keys = await source.query<{ name: string; child: string; columns: string[] }[]>(
    `SELECT k.conname AS name, k.conrelid::regclass::text AS child,
            (SELECT array_agg(a.attname::text) FROM pg_attribute a
              WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)) AS columns
       FROM pg_constraint k WHERE k.contype = 'f' ORDER BY k.conname`,
  );
  const plans: Explained[] = [];
  for (const { child, columns, name } of keys) {
    const condition = columns.map((column, index) => `${column} = $${String(index + 1)}`).join(' AND ');
    const text = `SELECT 1 FROM ${child} WHERE ${condition} FOR KEY SHARE`;
    const plan = await planOf(source, { text, parameters: columns.map(() => '1') });
    plans.push({ name, text, plan, faults: faultsOf(plan, catalog, new Set()) });
  }
  return plans;
}

async function readCatalog(): Promise<Catalog> {
  const names = async (query: string): Promise<ReadonlySet<string>> =>
    new Set((await source.query<{ name: string }[]>(query)).map(({ name }) => name));
  return {
    bigTables: await names(
      `SELECT relname AS name FROM pg_class
        WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND reltuples >= ${String(BIG_TABLE_ROWS)}`,
    ),
    partialIndexes: await names(`SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indpred IS NOT NULL`),
  };
}

const failing = (plans: readonly Explained[]): readonly Omit<Explained, 'plan'>[] =>
  plans.flatMap(({ faults, name, text }) => (faults.length === 0 ? [] : [{ name, faults, text }]));

describe('every statement of the stores', () => {
  test('is heard', () => {
    expect(new Set(explained.map(({ name }) => name)).size).toBe(storeCases(new Database(source), source).length);
  });

  test('finds its rows of a big table by an index, at a cost that the table does not set', () => {
    expect(failing(explained)).toEqual([]);
  });
});

describe('every foreign key', () => {
  test('finds the rows that refer to one by an index, for that is done when the one goes', () => {
    expect(references.length).toBeGreaterThan(0);
    expect(failing(references)).toEqual([]);
  });
});

describe('every index', () => {
  test('serves a statement, a foreign key or a rule of its own', async () => {
    const used = new Set([...explained, ...references].flatMap(({ plan }) => indexesUsed(plan)));
    const indexes = await source.query<{ name: string }[]>(
      `SELECT i.indexrelid::regclass::text AS name FROM pg_index i
        WHERE i.indrelid::regclass::text = ANY ($1)
          AND NOT i.indisunique AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)`,
      [[...catalog.bigTables]],
    );
    expect(indexes.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  });
});
