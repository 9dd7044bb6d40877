import type { Database } from '../persistence/index.js';

/** A row of a page. */
export interface SealedRow {
  /** Of its table, in the order of the primary key. */
  readonly key: readonly string[];
  readonly accountId: string;
  /** What is sealed, as it is stored, where another key than the first has sealed it; null: there is nothing to do. */
  readonly stale: string | null;
}

/** Where secrets rest sealed. */
export interface SealedPlace {
  /** As metrics name it. */
  readonly kind: string;
  /** Rows behind a key, by their key, at most so many; null: from the beginning. */
  page(after: readonly string[] | null, limit: number): Promise<readonly SealedRow[]>;
  /**
   * Seals what is stale in a row with the first key, unless it was changed meanwhile.
   *
   * @returns whether nothing in it is sealed with another key any more
   * @throws SecretError when it cannot be opened
   */
  renew(row: SealedRow): Promise<boolean>;
}

/** A column of the primary key. */
interface KeyColumn {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'bigint';
}

/** How the rows of a place are read, as parts of SQL. */
export interface SealedColumn {
  readonly kind: string;
  readonly from: string;
  readonly key: readonly KeyColumn[];
  readonly accountId: string;
  /** What is sealed, as text. */
  readonly text: string;
  /** Whether another key than the first has sealed it, whose texts begin with `$3`. */
  readonly isStale: string;
}

/**
 * Reads by the primary key, stale or not, so that no statement reads more than a page of a table; what is not stale stays
 * in the database.
 *
 * @param prefix what all texts begin with that the first key has sealed
 */
export function readerOf(column: SealedColumn, database: Database, prefix: string): Pick<SealedPlace, 'kind' | 'page'> {
  const page = pageOf(column);
  const first = column.key.map(({ type }) => FIRST[type]);
  return {
    kind: column.kind,
    page: (after, limit) =>
      database.read((manager) => manager.query<SealedRow[]>(page, [limit, after ?? first, prefix])),
  };
}

/** Below every key of the type: no text is empty, and numbers begin with 1. */
const FIRST = { text: '', integer: '0', bigint: '0' } as const;

function pageOf({ accountId, from, isStale, key, text }: SealedColumn): string {
  const names = key.map(({ name }) => name).join(', ');
  const after = key.map(({ type }, at) => `($2::text[])[${String(at + 1)}]::${type}`).join(', ');
  return `
    SELECT ARRAY[${key.map(({ name }) => `${name}::text`).join(', ')}] AS key, ${accountId} AS "accountId",
           CASE WHEN ${isStale} THEN ${text} END AS stale
      FROM ${from} WHERE (${names}) > (${after}) ORDER BY ${names} LIMIT $1`;
}
