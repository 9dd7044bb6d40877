import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { pack, type Pack } from 'tar-stream';
import { misuse } from '../program/index.js';
import { ArchiveDigest } from './archive-digest.js';
import { END_NAME, HEAD_NAME, pieceName, type BackupEnd, type BackupHead } from './backup-format.js';

/** What lies in memory at a time, of writing and of reading. */
export const PIECE_BYTES = 1024 * 1024;
const OWNER_ONLY = 0o600;
/** A cut-off backup leaves it behind; it is never taken for one. */
const DRAFT = '.unfinished';

/** A gzipped tar that appears under its name once it is whole, readable by its owner only. */
export class ArchiveWriter {
  readonly #path: string;
  readonly #pack: Pack = pack();
  readonly #digest = new ArchiveDigest();
  readonly #written: Promise<void>;

  private constructor(path: string, file: Awaited<ReturnType<typeof open>>) {
    this.#path = path;
    // Logs are packed by the broker already, and rows are packed well by little work.
    const gzip = createGzip({ level: constants.Z_BEST_SPEED });
    this.#written = pipeline(this.#pack, gzip, file.createWriteStream({ flush: true }));
    // The next entry that is added fails with it; in between nobody asks.
    this.#written.catch(() => undefined);
  }

  /** @throws CommandError where there is a file of that name, or none can be made */
  static async create(path: string, head: BackupHead): Promise<ArchiveWriter> {
    if (await isThere(path)) throw misuse(`${path} is there already.`, 'Name a file that is not there, or a folder.');
    const writer = new ArchiveWriter(path, await createDraft(path));
    await writer.#add(HEAD_NAME, Buffer.from(JSON.stringify(head)));
    return writer;
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
    await this.#written;
    await rename(this.#path + DRAFT, this.#path);
    await syncFolder(dirname(this.#path));
  }

  async discard(): Promise<void> {
    this.#pack.destroy();
    await this.#written.catch(() => undefined);
    await rm(this.#path + DRAFT, { force: true });
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
      entry.end(bytes);
    });
    // Where the file cannot be written any more the entry would wait for ever.
    await Promise.race([taken, this.#written]);
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

async function createDraft(path: string): Promise<Awaited<ReturnType<typeof open>>> {
  try {
    return await open(path + DRAFT, 'wx', OWNER_ONLY);
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

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
