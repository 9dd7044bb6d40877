import { open, readFile, readdir, truncate, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '@berth/lifecycle';
import { decodeSegment, encodeFrame, SEGMENT_MAGIC, type Change, type JournalReplay } from './frame.js';

/** A segment is closed at the first commit that reaches this size. */
const SEGMENT_MAX_BYTES = 8 * 1024 * 1024;

export interface SegmentLogOptions {
  readonly folder: string;
  readonly segmentMaxBytes?: number;
}

export interface ReplayedSegment extends JournalReplay {
  readonly segment: number;
  readonly tornBytes: number;
}

/** The crash that a commit outlives once its promise resolves: one of this process, or one of the whole machine. */
export type Outlives = 'process' | 'machine';

interface Waiting {
  readonly frame: Buffer;
  readonly outlives: Outlives;
  readonly resolve: (segment: number) => void;
  readonly reject: (error: unknown) => void;
}

const nameOf = (segment: number): string => `journal-${segment.toString().padStart(8, '0')}.log`;
const NAME = /^journal-(\d{8})\.log$/;

/**
 * Append-only files. Commits that arrive while a sync runs share the next one, so the cost of a sync is spread over all
 * workers of the host. After a failed write the segment is given up: what follows a hole could not be read back.
 */
export class SegmentLog {
  readonly #folder: string;
  readonly #segmentMaxBytes: number;
  readonly #sealed: { readonly segment: number; readonly bytes: number }[] = [];
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | null = null;
  #active: { readonly file: FileHandle; readonly segment: number; bytes: number } | null = null;
  #nextSegment = 1;
  #isClosed = false;

  private constructor(options: SegmentLogOptions) {
    this.#folder = options.folder;
    this.#segmentMaxBytes = options.segmentMaxBytes ?? SEGMENT_MAX_BYTES;
  }

  /** Reads every segment, cuts torn tails off, and continues in a new segment. */
  static async open(options: SegmentLogOptions): Promise<{ log: SegmentLog; segments: ReplayedSegment[] }> {
    const log = new SegmentLog(options);
    const names = (await readdir(options.folder)).filter((name) => NAME.test(name)).sort();
    const segments: ReplayedSegment[] = [];
    for (const name of names) segments.push(await log.#replay(name));
    return { log, segments };
  }

  /** Sealed segments, oldest first. */
  get sealed(): readonly { readonly segment: number; readonly bytes: number }[] {
    return this.#sealed;
  }

  /** Bytes on disk. */
  get bytes(): number {
    return this.#sealed.reduce((sum, { bytes }) => sum + bytes, this.#active?.bytes ?? 0);
  }

  /** Resolves with the segment that holds the commit once it is as safe as asked, in the order of the calls. */
  append(changes: readonly Change[], outlives: Outlives): Promise<number> {
    if (this.#isClosed) return Promise.reject(new Error('the journal is closed'));
    const appended = new Promise<number>((resolve, reject) => {
      this.#waiting.push({ frame: encodeFrame(changes), outlives, resolve, reject });
    });
    this.#flushing ??= this.#flush();
    return appended;
  }

  /** Removes the oldest sealed segment: its live records must have been written again. */
  async dropOldest(): Promise<void> {
    const oldest = this.#sealed.shift();
    if (oldest !== undefined) await unlink(join(this.#folder, nameOf(oldest.segment)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#flushing;
    await this.#active?.file.close();
    this.#active = null;
  }

  async #replay(name: string): Promise<ReplayedSegment> {
    const path = join(this.#folder, name);
    const content = await readFile(path);
    const replay = decodeSegment(content);
    const tornBytes = content.byteLength - replay.soundBytes;
    if (tornBytes > 0) await truncate(path, replay.soundBytes);
    const segment = Number(NAME.exec(name)?.[1]);
    this.#sealed.push({ segment, bytes: replay.soundBytes });
    this.#nextSegment = segment + 1;
    return { ...replay, segment, tornBytes };
  }

  async #flush(): Promise<void> {
    // One turn of the loop lets the calls of this very moment join the first sync.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        const mustSync = batch.some(({ outlives }) => outlives === 'machine');
        const segment = await this.#write(Buffer.concat(batch.map(({ frame }) => frame)), mustSync);
        for (const { resolve } of batch) resolve(segment);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#flushing = null;
  }

  async #write(bytes: Buffer, mustSync: boolean): Promise<number> {
    const active = (this.#active ??= await this.#openSegment());
    const isFull = active.bytes + bytes.byteLength >= this.#segmentMaxBytes;
    try {
      await writeFully(active.file, bytes, active.bytes);
      // The records on which a later segment builds must not be lost with an earlier one.
      if (mustSync || isFull) await active.file.datasync();
    } catch (error) {
      await this.#giveUp(active);
      throw error;
    }
    active.bytes += bytes.byteLength;
    if (isFull) await this.#seal();
    return active.segment;
  }

  async #openSegment(): Promise<{ file: FileHandle; segment: number; bytes: number }> {
    const segment = this.#nextSegment;
    this.#nextSegment += 1;
    const file = await open(join(this.#folder, nameOf(segment)), 'wx');
    try {
      await writeFully(file, SEGMENT_MAGIC, 0);
      await syncFolder(this.#folder);
    } catch (error) {
      await file.close();
      throw error;
    }
    return { file, segment, bytes: SEGMENT_MAGIC.byteLength };
  }

  async #seal(): Promise<void> {
    const active = this.#active;
    if (active === null) return;
    this.#active = null;
    this.#sealed.push({ segment: active.segment, bytes: active.bytes });
    await active.file.close();
  }

  /** Whether the failed bytes reached the disk is unknown. They are cut off where possible; a reader stops at them. */
  async #giveUp(active: {
    readonly file: FileHandle;
    readonly segment: number;
    readonly bytes: number;
  }): Promise<void> {
    this.#active = null;
    this.#sealed.push({ segment: active.segment, bytes: active.bytes });
    await Promise.allSettled([active.file.truncate(active.bytes)]);
    await Promise.allSettled([active.file.close()]);
  }
}

async function writeFully(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.byteLength) {
    const { bytesWritten } = await file.write(bytes, written, bytes.byteLength - written, position + written);
    written += bytesWritten;
  }
}
