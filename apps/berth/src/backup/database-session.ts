import { Client } from 'pg';
import { CommandError } from '../program/index.js';

const CONNECT_MAX_MS = 10_000;
/** Waiting for somebody else, not working. */
const LOCK_MAX_MS = 10_000;

/** What is written in one place and read in another must not depend on how either is set up. */
const SESSION = [
  `SET statement_timeout = 0`,
  `SET idle_in_transaction_session_timeout = 0`,
  `SET lock_timeout = ${String(LOCK_MAX_MS)}`,
  `SET timezone = 'UTC'`,
  `SET datestyle = 'ISO'`,
  `SET intervalstyle = 'postgres'`,
  `SET extra_float_digits = 3`,
  `SET client_encoding = 'UTF8'`,
];

/**
 * A connection of its own, for one piece of work that may take long.
 *
 * @throws CommandError when the database does not let us in
 */
export async function openDatabase(url: string, applicationName: string): Promise<Client> {
  const client = new Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_MAX_MS,
    keepAlive: true,
  });
  // What is under way fails as well, and is what is told.
  client.on('error', () => undefined);
  try {
    await client.connect();
    for (const statement of SESSION) await client.query(statement);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw new CommandError(`The database does not let us in: ${(error as Error).message}.`, {
      mend: 'Is it up, and is BERTH_DATABASE_URL where it is? NODE_EXTRA_CA_CERTS names an authority of your own.',
      cause: error,
    });
  }
}

export interface TableColumns {
  readonly name: string;
  readonly columns: readonly string[];
}

/** By which the tables came to be; null: there are none yet. */
export async function readMigrations(client: Client): Promise<readonly string[] | null> {
  const there = await client.query<{ is: boolean }>(`SELECT to_regclass('schema_migrations') IS NOT NULL AS is`);
  if (there.rows[0]?.is !== true) return null;
  const { rows } = await client.query<{ name: string }>(`SELECT name FROM schema_migrations ORDER BY id`);
  return rows.map(({ name }) => name);
}

/** Every table of ours with the columns that somebody writes. The list of migrations is not copied: it is compared. */
export async function readTables(client: Client): Promise<readonly TableColumns[]> {
  const { rows } = await client.query<TableColumns>(`
    SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     WHERE c.relnamespace = to_regnamespace(current_schema()) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname <> 'schema_migrations'
     GROUP BY c.relname ORDER BY c.relname`);
  return rows;
}
