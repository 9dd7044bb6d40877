import { COPIED_STATE, type CopiedState } from '@berth/messaging';
import { count, integer, listOf, mapOf, matching, objectOf, text } from '@berth/domain/shape';

/** Of the archive: what its entries are called and hold. Another number, and no other version reads it. */
export const BACKUP_FORMAT = 1;

export const HEAD_NAME = 'backup.json';
export const END_NAME = 'end.json';

/** The first entry: of what the backup is. */
export interface BackupHead {
  readonly format: typeof BACKUP_FORMAT;
  /** Version of Berth that made it, for people. */
  readonly version: string;
  readonly id: string;
  /** Unix ms; all that was acknowledged before is in it. */
  readonly startedAtMs: number;
  /** Of what owners write. */
  readonly logFormat: number;
  /** By which the tables came to be what they are, in their order. */
  readonly migrations: readonly string[];
  /** One for each key that secrets were sealed with; from none can the key be found. */
  readonly keyFingerprints: readonly string[];
}

export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
}

/** A part of a table for some of its rows, as PostgreSQL itself says where it begins and ends. */
export interface CopiedPartition {
  readonly name: string;
  readonly parent: string;
  readonly bound: string;
}

export interface CopiedSequence {
  readonly name: string;
  readonly value: number;
}

export interface CopiedStream {
  readonly name: string;
  /** Of its copies in the archive, the one that counts. */
  readonly attempt: number;
  readonly state: CopiedState;
  /** When the stream was made, in the broker's words. */
  readonly created: string;
}

/** The last entry, without which the archive is not whole. */
export interface BackupEnd {
  readonly tables: readonly CopiedTable[];
  readonly partitions: readonly CopiedPartition[];
  readonly sequences: readonly CopiedSequence[];
  readonly streams: readonly CopiedStream[];
  /** The term of each shard of logs that had an owner. */
  readonly terms: Readonly<Record<string, number>>;
  /** Hex SHA-256 of the names and contents of all entries before. */
  readonly sha256: string;
}

const LIST_MAX = 10_000;
const NAMES_MAX = 1_000;
const SHA256 = /^[0-9a-f]{64}$/;
/** They stand in statements. */
const NAME = matching('a plain name of PostgreSQL', /^[a-z_][a-z0-9_]{0,62}$/);
const STREAM = matching('the name of a stream', /^[A-Z]+_[A-Za-z0-9_-]{1,32}$/);
const BOUND = matching(
  'where a partition begins and ends',
  /^FOR VALUES FROM \('[-+0-9: ]{1,40}'\) TO \('[-+0-9: ]{1,40}'\)$/,
);

/** A file may come from anywhere, and these are shown. */
const WORD = matching('a word of letters and digits', /^[\w.+-]{1,200}$/);

export const HEAD_FORMAT_SHAPE = objectOf<Pick<BackupHead, 'format' | 'version'>>({ format: count, version: WORD });

export const HEAD_SHAPE = objectOf<BackupHead>({
  format: integer(BACKUP_FORMAT, BACKUP_FORMAT),
  version: WORD,
  id: text(),
  startedAtMs: count,
  logFormat: count,
  migrations: listOf(WORD, NAMES_MAX, 1),
  keyFingerprints: listOf(text(), NAMES_MAX, 1),
});

export const END_SHAPE = objectOf<BackupEnd>({
  tables: listOf(objectOf<CopiedTable>({ name: NAME, columns: listOf(NAME, NAMES_MAX), rows: count }), NAMES_MAX),
  partitions: listOf(objectOf<CopiedPartition>({ name: NAME, parent: NAME, bound: BOUND }), LIST_MAX),
  sequences: listOf(objectOf<CopiedSequence>({ name: NAME, value: count }), NAMES_MAX),
  streams: listOf(
    objectOf<CopiedStream>({ name: STREAM, attempt: count, state: COPIED_STATE, created: text() }),
    NAMES_MAX,
  ),
  terms: mapOf(count, NAMES_MAX),
  sha256: matching('a SHA-256', SHA256),
});

export const tableFolder = (table: string): string => `database/${table}`;

/** Each try to copy a stream has a folder of its own: what was written is not taken back. */
export const streamFolder = (stream: string, attempt: number): string => `streams/${stream}.${attempt}`;

export const pieceName = (folder: string, index: number): string => `${folder}/${String(index).padStart(8, '0')}`;

export const folderOf = (entry: string): string => entry.slice(0, Math.max(0, entry.lastIndexOf('/')));
