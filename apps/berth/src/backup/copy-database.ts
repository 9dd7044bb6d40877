import { Silence, type Clock } from '@berth/lifecycle';
import { escapeIdentifier, type Client } from 'pg';
import { to } from 'pg-copy-streams';
import { CommandError } from '../program/index.js';
import type { ArchiveWriter } from './archive-writer.js';
import {
  tableFolder,
  type BackupEnd,
  type CopiedPartition,
  type CopiedSequence,
  type CopiedTable,
} from './backup-format.js';
import { readTables, type TableColumns } from './database-session.js';

/** The database's part of a backup. */
export type CopiedDatabase = Pick<BackupEnd, 'tables' | 'partitions' | 'sequences'>;

const SILENCE_MAX_MS = 60_000;

/** Begins the one moment in which everything is read. */
export async function beginReading(client: Client): Promise<void> {
  await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
}

/** Copies every row of every table of ours, as of the moment in which the transaction began. */
export async function copyDatabase(client: Client, archive: ArchiveWriter, clock: Clock): Promise<CopiedDatabase> {
  const tables: CopiedTable[] = [];
  for (const table of await readTables(client)) {
    tables.push({ ...table, rows: await copyTable(client, { table, archive, clock }) });
  }
  const copied = { tables, partitions: await readPartitions(client), sequences: await readSequences(client) };
  await client.query('COMMIT');
  return copied;
}

async function copyTable(
  client: Client,
  { archive, clock, table }: { readonly table: TableColumns; readonly archive: ArchiveWriter; readonly clock: Clock },
): Promise<number> {
  const columns = table.columns.map(escapeIdentifier).join(', ');
  // A table of partitions has no rows of its own; a query reads those of the partitions.
  const rows = client.query(to(`COPY (SELECT ${columns} FROM ${escapeIdentifier(table.name)}) TO STDOUT`));
  const pieces = archive.pieces(tableFolder(table.name));
  const silence = new Silence(clock, SILENCE_MAX_MS, () => rows.destroy(silentDatabase(table.name)));
  try {
    for await (const piece of rows) {
      // What is slow from here on is not the database.
      silence.end();
      await pieces.write(piece as Buffer);
      silence.heard();
    }
    await pieces.end();
  } finally {
    silence.end();
  }
  return rows.rowCount;
}

const silentDatabase = (table: string): CommandError =>
  new CommandError(`The database said nothing for a minute while ${table} was copied.`, {
    mend: 'Look at its load and at the network, and run the backup again.',
  });

async function readPartitions(client: Client): Promise<readonly CopiedPartition[]> {
  const { rows } = await client.query<CopiedPartition>(`
    SELECT c.relname AS name, p.relname AS parent, pg_get_expr(c.relpartbound, c.oid) AS bound
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
     WHERE c.relnamespace = to_regnamespace(current_schema()) AND c.relispartition AND c.relkind = 'r'
     ORDER BY c.relname`);
  return rows;
}

/** Those of which something was taken. */
async function readSequences(client: Client): Promise<readonly CopiedSequence[]> {
  const { rows } = await client.query<{ name: string; value: string }>(`
    SELECT sequencename AS name, last_value AS value FROM pg_sequences
     WHERE schemaname = current_schema() AND last_value IS NOT NULL AND sequencename NOT LIKE 'schema_migrations%'
     ORDER BY sequencename`);
  return rows.map(({ name, value }) => ({ name, value: Number(value) }));
}
