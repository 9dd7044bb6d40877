import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder, type Random } from '@berth/lifecycle';
import type { Change } from './frame.js';
import { JournalFullError } from './journal-error.js';
import { LiveRecords, sizeOf, type LiveRecord } from './live-records.js';
import { SegmentLog, type Outlives, type ReplayedSegment } from './segment-log.js';
import { SideFiles } from './side-files.js';
import type { WorkerRecords } from './worker-records.port.js';

export interface JournalOptions {
  /** Made when it is not there. One agent at a time may have it open. */
  readonly folder: string;
  readonly random: Random;
  /** Bounds of what is live: records in the log, and bodies in files beside it. */
  readonly logBytesMax?: number;
  readonly fileBytesMax?: number;
  readonly segmentMaxBytes?: number;
  /** Told of anything found on the disk that is not as it was written, except the torn end of the last write. */
  readonly onDamage?: (detail: string) => void;
}

const LOG_MAX_BYTES = 128 * 1024 * 1024;
const FILE_MAX_BYTES = 4 * 1024 * 1024 * 1024;
const SEGMENT_MAX_BYTES = 8 * 1024 * 1024;
/** A body above this gets a file of its own; below it lives in the log, and in memory. */
export const INLINE_BODY_MAX_BYTES = 64 * 1024;
/** Above this share of either budget no new job is taken: the rest is for the results of those that run. */
const ROOM_SHARE = 0.8;

export interface JournalEntry {
  readonly key: string;
  readonly value: unknown;
  /** Text kept beside the value, as it is or in UTF-8; read it with `readBody`. */
  readonly body?: string | Uint8Array;
}

interface Stored {
  readonly value: unknown;
  readonly body?: string;
}

/**
 * The things that this agent must not forget: the workers it started, the attempts it handed out, results and chunks
 * that the router has not acknowledged.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #log: SegmentLog;
  readonly #files: SideFiles;
  readonly #live: LiveRecords;
  /** Keys with a change on its way to the disk: compaction must leave them alone. */
  readonly #pending = new Map<string, number>();
  #compacting: Promise<void> | null = null;

  private constructor(options: JournalOptions, parts: { log: SegmentLog; files: SideFiles; live: LiveRecords }) {
    this.#options = options;
    this.#log = parts.log;
    this.#files = parts.files;
    this.#live = parts.live;
  }

  static async open(options: JournalOptions): Promise<Journal> {
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    await syncFolder(dirname(options.folder));
    const segmentMaxBytes = options.segmentMaxBytes ?? SEGMENT_MAX_BYTES;
    const { log, segments } = await SegmentLog.open({ folder: options.folder, segmentMaxBytes });
    reportDamage(segments, options);
    const live = new LiveRecords();
    for (const { commits, segment } of segments) for (const { changes } of commits) live.apply(changes, segment);
    const named = new Set([...live.entries()].flatMap(([, { file }]) => (file === null ? [] : [file])));
    const files = await SideFiles.open(options.folder, named);
    for (const [key, { file }] of live.entries()) {
      if (file !== null && !files.has(file)) options.onDamage?.(`the body of ${key} is missing`);
    }
    return new Journal(options, { log, files, live });
  }

  /** The records of started workers, under their own prefix. */
  readonly workers: WorkerRecords = {
    put: (key, value) => this.put([{ key: WORKER_PREFIX + key, value }]),
    remove: (key) => this.remove([WORKER_PREFIX + key]),
    list: () =>
      new Map(this.list(WORKER_PREFIX).map(({ key, value }) => [key.slice(WORKER_PREFIX.length), value] as const)),
  };

  /** False when new work should not be taken on. */
  get hasRoom(): boolean {
    const { logBytesMax, fileBytesMax } = this.#bounds();
    return this.#live.bytes < logBytesMax * ROOM_SHARE && this.#files.bytes < fileBytesMax * ROOM_SHARE;
  }

  /**
   * Adds or replaces all entries or none, and resolves once they outlive what is asked. Calls take effect in their order;
   * one with a large body, when that is written.
   * @throws JournalFullError
   */
  async put(entries: readonly JournalEntry[], outlives: Outlives = 'machine'): Promise<void> {
    const files = new Map<JournalEntry, string>();
    try {
      for (const entry of entries) if (isLarge(entry)) files.set(entry, await this.#writeBody(entry));
      const changes = entries.map((entry) => toChange(entry, files.get(entry) ?? null));
      await this.#commit(changes, outlives);
    } catch (error) {
      await this.#dropFiles([...files.values()]);
      throw error instanceof JournalFullError ? error : new JournalFullError('the journal could not be written', error);
    }
  }

  /** Removes all keys or none; absent ones are success. After a crash of the machine they may be there again, whole. */
  async remove(keys: readonly string[]): Promise<void> {
    const present = keys.filter((key) => this.#live.get(key) !== undefined || this.#pending.has(key));
    if (present.length === 0) return;
    // A record must not come back without its file.
    const mayHaveFile = present.some((key) => this.#pending.has(key) || this.#live.get(key)?.file !== null);
    const changes = present.map((key) => ({ kind: 'remove', key }) as const);
    await this.#commit(changes, mayHaveFile ? 'machine' : 'process');
  }

  /** Live records whose key starts with `prefix`, by key. */
  list(prefix: string): readonly { readonly key: string; readonly value: unknown }[] {
    const found = [...this.#live.entries()].filter(([key]) => key.startsWith(prefix));
    found.sort(([left], [right]) => (left < right ? -1 : 1));
    return found.map(([key, record]) => ({ key, value: storedOf(record).value }));
  }

  /** UTF-8 bytes of a record's body from `offset` on, at most `length`. Null when the record or its body is not there. */
  async readBody(key: string, offset: number, length: number): Promise<Buffer | null> {
    const record = this.#live.get(key);
    if (record === undefined) return null;
    if (record.file !== null)
      return this.#files.has(record.file) ? this.#files.read(record.file, offset, length) : null;
    const { body } = storedOf(record);
    return body === undefined ? null : Buffer.from(body, 'utf8').subarray(offset, offset + length);
  }

  /** Null when the record or its body is not there. */
  bodyBytes(key: string): number | null {
    const record = this.#live.get(key);
    if (record === undefined) return null;
    if (record.file !== null) return this.#files.sizeOf(record.file);
    const { body } = storedOf(record);
    return body === undefined ? null : Buffer.byteLength(body, 'utf8');
  }

  async close(): Promise<void> {
    await this.#compacting;
    await this.#log.close();
  }

  #bounds(): { logBytesMax: number; fileBytesMax: number } {
    const { logBytesMax = LOG_MAX_BYTES, fileBytesMax = FILE_MAX_BYTES } = this.#options;
    return { logBytesMax, fileBytesMax };
  }

  async #writeBody({ body = '' }: JournalEntry): Promise<string> {
    const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
    if (this.#files.bytes + bytes.byteLength > this.#bounds().fileBytesMax) {
      throw new JournalFullError('no room left for large results');
    }
    return this.#files.write(this.#options.random.id(20), bytes);
  }

  async #commit(changes: readonly Change[], outlives: Outlives): Promise<void> {
    const growth = changes.reduce((sum, change) => sum + (change.kind === 'put' ? sizeOf(change) : 0), 0);
    if (growth > 0 && this.#live.bytes + growth > this.#bounds().logBytesMax) {
      throw new JournalFullError('no room left for records');
    }
    for (const { key } of changes) this.#pending.set(key, (this.#pending.get(key) ?? 0) + 1);
    try {
      const segment = await this.#log.append(changes, outlives);
      await this.#dropFiles(this.#live.apply(changes, segment));
    } finally {
      for (const { key } of changes) this.#settle(key);
    }
    this.#compacting ??= this.#compact().finally(() => {
      this.#compacting = null;
    });
  }

  #settle(key: string): void {
    const left = (this.#pending.get(key) ?? 1) - 1;
    if (left === 0) this.#pending.delete(key);
    else this.#pending.set(key, left);
  }

  /** A file that stays behind is removed at the next start, as no record names it. */
  async #dropFiles(names: readonly string[]): Promise<void> {
    await Promise.allSettled(names.map((name) => this.#files.remove(name)));
  }

  /**
   * Writes the live records of the oldest segment again and removes it, while more than half of the log is dead. Only
   * the oldest: a removal must outlive every older put of its key.
   */
  async #compact(): Promise<void> {
    try {
      while (this.#isWasteful()) {
        const oldest = this.#log.sealed[0];
        if (oldest === undefined) return;
        const keys = this.#live.keysIn(oldest.segment);
        if (keys.some((key) => this.#pending.has(key))) return;
        await this.#rewrite(keys);
        if (this.#live.liveIn(oldest.segment) === 0) await this.#log.dropOldest();
      }
    } catch (error) {
      this.#options.onDamage?.(`compaction failed: ${String(error)}`);
    }
  }

  #isWasteful(): boolean {
    const slackBytes = 2 * (this.#options.segmentMaxBytes ?? SEGMENT_MAX_BYTES);
    return this.#log.sealed.length > 0 && this.#log.bytes > 2 * this.#live.bytes + slackBytes;
  }

  async #rewrite(keys: readonly string[]): Promise<void> {
    const changes = keys.flatMap((key): Change[] => {
      const record = this.#live.get(key);
      return record === undefined ? [] : [{ kind: 'put', key, value: record.value, file: record.file }];
    });
    if (changes.length === 0) return;
    const segment = await this.#log.append(changes, 'machine');
    this.#live.apply(changes, segment);
  }
}

const WORKER_PREFIX = 'worker/';

const isLarge = ({ body }: JournalEntry): boolean =>
  body !== undefined && Buffer.byteLength(body) > INLINE_BODY_MAX_BYTES;

function toChange({ key, value, body: given }: JournalEntry, file: string | null): Change {
  const body = file === null ? given : undefined;
  const text = typeof body === 'object' ? Buffer.from(body).toString('utf8') : body;
  const stored: Stored = text === undefined ? { value } : { value, body: text };
  return { kind: 'put', key, value: JSON.stringify(stored), file };
}

const storedOf = (record: LiveRecord): Stored => JSON.parse(record.value) as Stored;

function reportDamage(segments: readonly ReplayedSegment[], { onDamage }: JournalOptions): void {
  for (const { segment, tornBytes } of segments.slice(0, -1)) {
    if (tornBytes > 0) onDamage?.(`segment ${segment}: ${tornBytes} bytes at its end could not be read`);
  }
}
