import type { TLSSocket } from 'node:tls';
import type { Clock } from '@berth/lifecycle';
import { Client } from 'pg';
import { readSealingKeys, type SealingKeys } from '../../connections/index.js';
import type { DatabaseFacts } from '../judges/judge-database.js';

const CONNECT_MAX_MS = 10_000;
const STATEMENT_MAX_MS = 5_000;
const TABLES_MAX = 100;
const MIGRATIONS_MAX = 10_000;

const SETTINGS = `
  SELECT current_setting('server_version_num')::int AS version,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS max,
         (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
         (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS encrypted,
         pg_database_size(current_database())::float8 AS size,
         to_regclass('schema_migrations') IS NOT NULL AS migrated`;

const NOW = `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`;

/** As the migration and the processes need them. */
const FORBIDDEN = `
  SELECT c.relname AS name FROM pg_class c
   WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
     AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
              AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))
   ORDER BY 1 LIMIT ${String(TABLES_MAX)}`;

const MIGRATIONS = `SELECT name FROM schema_migrations ORDER BY id LIMIT ${String(MIGRATIONS_MAX)}`;

interface Settings {
  readonly version: number;
  readonly max: number;
  readonly used: number;
  readonly encrypted: boolean | null;
  readonly size: number;
  readonly migrated: boolean;
}

interface Named {
  readonly name: string;
}

/**
 * Asks PostgreSQL about itself over one connection, and changes nothing.
 *
 * @throws what the driver throws
 */
export async function probeDatabase(url: string, clock: Clock): Promise<DatabaseFacts> {
  const client = new Client({
    connectionString: url,
    application_name: 'berth-doctor',
    connectionTimeoutMillis: CONNECT_MAX_MS,
    query_timeout: STATEMENT_MAX_MS,
    options: '-c default_transaction_read_only=on',
  });
  // A connection that breaks while nothing is asked is told of by the next question.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await factsOf(client, clock);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function factsOf(client: Client, clock: Clock): Promise<DatabaseFacts> {
  const settings = await oneRow<Settings>(client, SETTINGS);
  const askedAtMs = clock.nowMs();
  const { now } = await oneRow<{ now: number }>(client, NOW);
  const answeredAtMs = clock.nowMs();
  const { rows: forbidden } = await client.query<Named>(FORBIDDEN);
  const migrations = settings.migrated ? (await client.query<Named>(MIGRATIONS)).rows : null;
  return {
    isEncrypted: settings.encrypted === true,
    version: settings.version,
    migrations: migrations?.map(({ name }) => name) ?? null,
    forbiddenTables: forbidden.map(({ name }) => name),
    connections: { used: settings.used, max: settings.max },
    sizeBytes: settings.size,
    clockOffsetMs: now - (askedAtMs + answeredAtMs) / 2,
    certificateUntilMs: certificateUntilMs(client),
    // Last, for it may take longer than there is time.
    sealingKeys: settings.migrated ? await sealingKeysOf(client) : null,
  };
}

/** Null: a large database has no answer in time, and one of another version none at all; both are told of elsewhere. */
async function sealingKeysOf(client: Client): Promise<SealingKeys | null> {
  try {
    return await readSealingKeys(client);
  } catch {
    return null;
  }
}

async function oneRow<Row extends object>(client: Client, sql: string): Promise<Row> {
  const [row] = (await client.query<Row>(sql)).rows;
  if (row === undefined) throw new Error('PostgreSQL answered without a row.');
  return row;
}

/** The driver keeps the socket to itself, and says nothing of certificates. */
function certificateUntilMs(client: Client): number | null {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Partial<TLSSocket> } }).connection;
  const until = Date.parse(stream.getPeerCertificate?.().valid_to ?? '');
  return Number.isNaN(until) ? null : until;
}
