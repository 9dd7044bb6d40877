import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { syncFolder, type Clock } from '@berth/lifecycle';
import { pack, type Pack } from 'tar-stream';
import { CommandError, misuse } from '../program/index.js';
import { ArchiveDigest } from './archive-digest.js';
import { END_NAME, HEAD_NAME, pieceName, type BackupEnd, type BackupHead } from './backup-format.js';

/** What lies in memory at a time, of writing and of reading. */
export const PIECE_BYTES = 1024 * 1024;
const OWNER_ONLY = 0o600;
/** A cut-off backup leaves it behind; it is never taken for one. */
const DRAFT = '.unfinished';
/** In which the disk takes no piece. */
const STALL_MAX_MS = 60_000;
/** In which all that it has taken comes to rest. */
const SYNC_MAX_MS = 600_000;
const DISCARD_MAX_MS = 5_000;

export interface ArchiveTools {
  readonly clock: Clock;
  /** Makes the file, which is not there. Default: on a disk, synced at its end. */
  readonly open?: (path: string) => Promise<Writable>;
}

/** A gzipped tar that appears under its name once it is whole, readable by its owner only. */
export class ArchiveWriter {
  readonly #path: string;
  readonly #pack: Pack = pack();
  readonly #digest = new ArchiveDigest();
  readonly #written: Promise<void>;
  readonly #clock: Clock;

  private constructor(path: string, file: Writable, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
    // Logs are packed by the broker already, and rows are packed well by little work.
    const gzip = createGzip({ level: constants.Z_BEST_SPEED });
    this.#written = pipeline(this.#pack, gzip, file);
    // The next entry that is added fails with it; in between nobody asks.
    this.#written.catch(() => undefined);
  }

  /** @throws CommandError where there is a file of that name, or none can be made, or written */
  static async create(
    path: string,
    head: BackupHead,
    { clock, open: openFile = createDraft }: ArchiveTools,
  ): Promise<ArchiveWriter> {
    if (await isThere(path)) throw misuse(`${path} is there already.`, 'Name a file that is not there, or a folder.');
    const writer = new ArchiveWriter(path, await openFile(path), clock);
    try {
      await writer.#add(HEAD_NAME, Buffer.from(JSON.stringify(head)));
      return writer;
    } catch (error) {
      await writer.discard();
      throw error;
    }
  }

  /** Writes what comes in pieces of one size, whatever size it comes in. */
  pieces(folder: string): ArchivePieces {
    return new ArchivePieces(folder, (name, bytes) => this.#add(name, bytes));
  }

  /** Resolves when the file is whole and on the disk. */
  async finish(end: Omit<BackupEnd, 'sha256'>): Promise<void> {
    const whole: BackupEnd = { ...end, sha256: this.#digest.finish() };
    await this.#write(END_NAME, Buffer.from(JSON.stringify(whole)));
    this.#pack.finalize();
    await this.#inTime(this.#written, SYNC_MAX_MS);
    await rename(this.#path + DRAFT, this.#path);
    await syncFolder(dirname(this.#path));
  }

  /** A disk that takes nothing gives nothing back either: then the draft stays. */
  async discard(): Promise<void> {
    this.#pack.destroy();
    const removed = this.#written.catch(() => undefined).then(() => rm(this.#path + DRAFT, { force: true }));
    removed.catch(() => undefined);
    const isOver = new AbortController();
    await Promise.race([removed, this.#clock.sleep(DISCARD_MAX_MS, isOver.signal)]).finally(() => {
      isOver.abort();
    });
  }

  async #add(name: string, bytes: Buffer): Promise<void> {
    this.#digest.add(name, bytes);
    await this.#write(name, bytes);
  }

  async #write(name: string, bytes: Buffer): Promise<void> {
    const taken = new Promise<void>((resolve, reject) => {
      const entry = this.#pack.entry({ name, size: bytes.byteLength, mode: OWNER_ONLY }, (error) => {
        if (error) reject(error);
        else resolve();
      });
      entry.on('error', reject);
      entry.end(bytes);
    });
    // Where the file cannot be written any more the entry would wait for ever.
    await this.#inTime(Promise.race([taken, this.#written]), STALL_MAX_MS);
  }

  async #inTime(done: Promise<void>, withinMs: number): Promise<void> {
    const isDone = new AbortController();
    const late = this.#clock.sleep(withinMs, isDone.signal).then(() => {
      if (!isDone.signal.aborted) throw stalled(this.#path, withinMs);
    });
    try {
      await Promise.race([done, late]);
    } catch (error) {
      throw error instanceof CommandError ? error : unwritable(this.#path, error as NodeJS.ErrnoException);
    } finally {
      isDone.abort();
    }
  }
}

/** One table, or one copy of a stream, as entries of the archive. */
export class ArchivePieces {
  readonly #folder: string;
  readonly #add: (name: string, bytes: Buffer) => Promise<void>;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #count = 0;

  constructor(folder: string, add: (name: string, bytes: Buffer) => Promise<void>) {
    this.#folder = folder;
    this.#add = add;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.byteLength;) {
      const part = bytes.subarray(from, from + PIECE_BYTES - this.#waitingBytes);
      this.#waiting.push(part);
      this.#waitingBytes += part.byteLength;
      from += part.byteLength;
      if (this.#waitingBytes === PIECE_BYTES) await this.end();
    }
  }

  /** Writes what waits. */
  async end(): Promise<void> {
    if (this.#waitingBytes === 0) return;
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    await this.#add(pieceName(this.#folder, this.#count), bytes);
    this.#count += 1;
  }
}

const stalled = (path: string, withinMs: number): CommandError =>
  new CommandError(`The disk of ${path} has taken nothing for ${String(withinMs / 1_000)} s.`, {
    mend: `Look at that disk, or name a folder on another one. ${path}${DRAFT} may be left.`,
  });

const unwritable = (path: string, error: NodeJS.ErrnoException): CommandError =>
  error.code === 'ENOSPC' || error.code === 'EDQUOT'
    ? new CommandError(`${path} cannot be written: the disk is full.`, {
        ...{ mend: 'Make room, or name a folder on another disk. Nothing of it was left.', cause: error },
      })
    : new CommandError(`${path} cannot be written: ${error.message}.`, {
        ...{ mend: 'Look at that disk, or name a folder on another one. Nothing of it was left.', cause: error },
      });

async function createDraft(path: string): Promise<Writable> {
  try {
    const file = await open(path + DRAFT, 'wx', OWNER_ONLY);
    return file.createWriteStream({ flush: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') {
      throw misuse(`${path}${DRAFT} is there: another backup is under way, or was cut off.`, 'Remove it if none is.');
    }
    throw misuse(`${path} cannot be written: ${message}`, 'Name a folder that is there and can be written.');
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
