import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { readShape, type Shape } from '@berth/domain/shape';
import { extract } from 'tar-stream';
import { CommandError, misuse } from '../program/index.js';
import { ArchiveDigest } from './archive-digest.js';
import { PIECE_BYTES } from './archive-writer.js';
import {
  BACKUP_FORMAT,
  END_NAME,
  END_SHAPE,
  folderOf,
  HEAD_FORMAT_SHAPE,
  HEAD_NAME,
  HEAD_SHAPE,
  type BackupEnd,
  type BackupHead,
} from './backup-format.js';

/** What a backup says of itself, once all of it was read and found whole. */
export interface Backup {
  readonly head: BackupHead;
  readonly end: BackupEnd;
}

/** The entries that are one table, or one copy of a stream. To be read before the next one. */
export interface ArchiveFolder {
  readonly folder: string;
  readonly pieces: AsyncIterable<Uint8Array>;
}

interface Entry {
  readonly name: string;
  readonly bytes: Buffer;
}

/** The last entry names tables and streams, and is no larger than that. */
const ENTRY_MAX_BYTES = 16 * PIECE_BYTES;

/**
 * Reads all of it once.
 *
 * @throws CommandError where it is damaged, cut off, no backup, or of another format
 */
export async function inspectArchive(path: string): Promise<Backup> {
  const digest = new ArchiveDigest();
  let head: BackupHead | null = null;
  let end: BackupEnd | null = null;
  for await (const { bytes, name } of entriesOf(path)) {
    if (end !== null) throw damaged(path, 'it goes on behind its end');
    if (head === null) head = readHead(path, { bytes, name });
    if (name === END_NAME) end = readEntry<BackupEnd>(path, bytes, END_SHAPE);
    else digest.add(name, bytes);
  }
  if (head === null || end === null) throw damaged(path, 'its end is missing');
  if (digest.finish() !== end.sha256) throw damaged(path, 'its checksum is another one');
  return { head, end };
}

/** What lies between the head and the end, folder by folder. */
export async function* readFolders(path: string): AsyncGenerator<ArchiveFolder> {
  const entries = entriesOf(path);
  try {
    let next = await entries.next();
    while (next.done !== true) {
      const folder = folderOf(next.value.name);
      const pieces = async function* (): AsyncGenerator<Uint8Array> {
        while (next.done !== true && folderOf(next.value.name) === folder) {
          yield next.value.bytes;
          next = await entries.next();
        }
      };
      const own = pieces();
      if (folder !== '') yield { folder, pieces: own };
      // What nobody wanted is passed over.
      for await (const _ of own);
    }
  } finally {
    await entries.return(undefined);
  }
}

async function* entriesOf(path: string): AsyncGenerator<Entry, undefined> {
  const archive = extract();
  const read = pipeline(createReadStream(path), createGunzip(), archive);
  read.catch(() => undefined);
  try {
    for await (const entry of archive) {
      if ((entry.header.size ?? 0) > ENTRY_MAX_BYTES) throw damaged(path, 'one of its entries is too large');
      yield { name: entry.header.name, bytes: await bytesOf(entry as AsyncIterable<Uint8Array>) };
    }
    await read;
  } catch (error) {
    throw error instanceof CommandError ? error : unreadable(path, error);
  } finally {
    archive.destroy();
  }
}

async function bytesOf(entry: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of entry) parts.push(part);
  return Buffer.concat(parts);
}

function readHead(path: string, { bytes, name }: Entry): BackupHead {
  if (name !== HEAD_NAME)
    throw misuse(`${path} is no backup of Berth.`, 'Name a file that `berth backup` has written.');
  const { format, version } = readEntry<Pick<BackupHead, 'format' | 'version'>>(path, bytes, HEAD_FORMAT_SHAPE);
  if (Number(format) !== BACKUP_FORMAT) {
    throw misuse(
      `${path} is of format ${String(format)}, and this version reads ${String(BACKUP_FORMAT)}.`,
      `Restore it with version ${version}, which made it.`,
    );
  }
  return readEntry<BackupHead>(path, bytes, HEAD_SHAPE);
}

function readEntry<Value>(path: string, bytes: Buffer, shape: Shape): Value {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw damaged(path, 'what it says of itself is no JSON');
  }
  const reading = readShape<Value>(shape, json);
  if (reading.kind === 'unreadable') throw damaged(path, `it says of itself: ${reading.reason}`);
  return reading.value;
}

const damaged = (path: string, reason: string): CommandError =>
  new CommandError(`${path} is damaged: ${reason}. Nothing was changed.`, { mend: 'Take another backup.' });

function unreadable(path: string, error: unknown): CommandError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR') {
    return misuse(`${path} cannot be read: ${message}`, 'Name a file that `berth backup` has written.');
  }
  return damaged(path, message);
}
