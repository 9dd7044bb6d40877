import type { DataSource } from 'typeorm';

interface TableRow {
  readonly name: string;
  /** Columns, then constraints, one line each. */
  readonly lines: readonly string[];
  readonly indexes: readonly string[];
  /** How its rows are divided; null: they are not. */
  readonly partition: string | null;
}

/**
 * The migrations' own list is not part of the schema, nor are partitions, which come and go. Not-null constraints stand
 * with their columns.
 */
const TABLES = `
  SELECT c.relname AS name, pg_get_partkeydef(c.oid) AS partition,
         (SELECT array_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
                             CASE WHEN a.attnotnull THEN 'NOT NULL' END,
                             'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)) ORDER BY a.attnum)
            FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
           WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
      || COALESCE((SELECT array_agg(format('CONSTRAINT %s %s', k.conname, pg_get_constraintdef(k.oid))
                             ORDER BY k.contype = 'p' DESC, k.conname)
            FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype <> 'n'), '{}') AS lines,
         COALESCE((SELECT array_agg(pg_get_indexdef(i.indexrelid) ORDER BY i.indexrelid::regclass::text)
            FROM pg_index i
           WHERE i.indrelid = c.oid AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid
                                                      AND k.conrelid = c.oid)), '{}') AS indexes
    FROM pg_class c
   WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace AND c.relname <> $1
   ORDER BY c.relname`;

/** The database's tables as text that reads like SQL and is the same for the same schema, to be compared in review. */
export async function describeSchema(source: DataSource): Promise<string> {
  const tables = await source.query<TableRow[]>(TABLES, [source.options.migrationsTableName]);
  return `${tables.map(describeTable).join('\n\n')}\n`;
}

function describeTable({ indexes, lines, name, partition }: TableRow): string {
  const table = `CREATE TABLE ${name} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${partition === null ? '' : ` PARTITION BY ${partition}`};`;
  return [table, ...indexes.map((index) => `${index};`)].join('\n');
}
