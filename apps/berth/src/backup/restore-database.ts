import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { escapeIdentifier, type Client } from 'pg';
import { from } from 'pg-copy-streams';
import { CommandError, misuse } from '../program/index.js';
import type { BackupEnd, CopiedTable } from './backup-format.js';
import { readMigrations, readTables } from './database-session.js';
import { schemaRefusal } from './restore-refusals.js';

/** Any number, as long as every restore takes the same. */
const LOCK_KEY = 4_274_815;
/** What the migration makes of the first key. */
const SEEDED = ['accounts', 'api_keys'];
const SEEDED_MAX = 1;
/** Which first keys the migration has made: any number, where `berth init` made others before the restore. */
const MEMORY = 'seeded_keys';

/**
 * Makes sure that the database is one that a restore may fill: of this very schema, empty but for the first key, and used by
 * nobody. Nothing is changed.
 *
 * @throws CommandError that says which of it is not so
 */
export async function requireEmptyDatabase(client: Client, migrations: readonly string[]): Promise<void> {
  const lock = await client.query<{ is: boolean }>(`SELECT pg_try_advisory_lock($1) AS is`, [LOCK_KEY]);
  if (lock.rows[0]?.is !== true) throw misuse('Another restore into this database is under way.', 'Let it end.');
  const refusal = schemaRefusal(migrations, await readMigrations(client));
  if (refusal !== null) throw refusal;
  const users = await readUsers(client);
  if (users.length > 0) {
    throw misuse(`The database is in use by ${users.join(', ')}. Nothing was changed.`, 'Stop every process of Berth.');
  }
  const held = await readHeldTables(client);
  if (held.length > 0) {
    throw misuse(
      `The database is not empty: there are rows in ${held.join(', ')}. Nothing was changed.`,
      'A backup is restored into an empty system only: name a new database, and run the migration there.',
    );
  }
}

async function readUsers(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(`
    SELECT DISTINCT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'berth-%' ORDER BY 1`);
  return rows.map(({ name }) => name);
}

async function readHeldTables(client: Client): Promise<readonly string[]> {
  const held: string[] = [];
  for (const { name } of await readTables(client)) {
    if (name === MEMORY) continue;
    const allowed = SEEDED.includes(name) ? SEEDED_MAX : 0;
    const some = await client.query(`SELECT 1 FROM ${escapeIdentifier(name)} LIMIT ${String(allowed + 1)}`);
    if (some.rows.length > allowed) held.push(name);
  }
  return held;
}

interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/** The database's part of a restore: one transaction, which nobody sees before it is committed. */
export class DatabaseRestore {
  readonly #client: Client;
  readonly #end: BackupEnd;
  #foreignKeys: readonly ForeignKey[] = [];

  constructor(client: Client, end: BackupEnd) {
    this.#client = client;
    this.#end = end;
  }

  /** Makes room: what the migration seeded goes, and rows may come in any order. */
  async begin(): Promise<void> {
    await this.#client.query('BEGIN');
    const { rows } = await this.#client.query<ForeignKey>(`
      SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
        FROM pg_constraint
       WHERE contype = 'f' AND conparentid = 0 AND connamespace = to_regnamespace(current_schema())`);
    this.#foreignKeys = rows;
    for (const { name, table } of rows) {
      await this.#client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${escapeIdentifier(name)}`);
    }
    for (const table of [MEMORY, ...SEEDED.toReversed()])
      await this.#client.query(`DELETE FROM ${escapeIdentifier(table)}`);
    for (const { bound, name, parent } of this.#end.partitions) {
      const [part, whole] = [escapeIdentifier(name), escapeIdentifier(parent)];
      await this.#client.query(`CREATE TABLE IF NOT EXISTS ${part} PARTITION OF ${whole} ${bound}`);
    }
  }

  /** @throws CommandError where the table is none of those that the backup names */
  async fill(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const table = this.#end.tables.find((each) => each.name === name);
    if (table === undefined) throw unknownTable(name);
    const columns = table.columns.map(escapeIdentifier).join(', ');
    const rows = this.#client.query(from(`COPY ${escapeIdentifier(name)} (${columns}) FROM STDIN`));
    await pipeline(Readable.from(pieces), rows);
    if (rows.rowCount !== table.rows) throw otherRows(table, rows.rowCount);
  }

  /** Everything but the commit: all that the rows have to keep to is checked. */
  async complete(): Promise<void> {
    for (const { definition, name, table } of this.#foreignKeys) {
      await this.#client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${escapeIdentifier(name)} ${definition}`);
    }
    for (const { name, value } of this.#end.sequences) {
      await this.#client.query(`SELECT setval($1::regclass, $2)`, [escapeIdentifier(name), value]);
    }
  }

  /** The streams of logs are made anew, and the history goes on in them where it was. */
  async moveHistory(shard: number, from_: string, to: string): Promise<void> {
    await this.#client.query(
      `UPDATE job_history_shards SET stream_created = $3 WHERE shard = $1 AND stream_created = $2`,
      [shard, from_, to],
    );
  }

  async commit(): Promise<void> {
    await this.#client.query('COMMIT');
  }

  /** Also where the connection is lost: the database does it by itself then. */
  async rollBack(): Promise<void> {
    await this.#client.query('ROLLBACK').catch(() => undefined);
  }
}

const unknownTable = (name: string): CommandError =>
  new CommandError(`The backup holds rows of ${name}, which it does not name.`, { mend: 'Take another backup.' });

const otherRows = ({ name, rows }: CopiedTable, found: number): CommandError =>
  new CommandError(`Of ${name} came ${String(found)} rows instead of ${String(rows)}.`, { mend: 'Report it.' });
