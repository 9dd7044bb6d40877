import { appendFile, mkdir, readFile, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogLine, LineSource } from '@berth/domain';
import { Semaphore } from '@berth/lifecycle';
import { encodeBatch, readSegment, type NewLine, type SpoolMark } from './spool-format.js';

/** Whose log it is; on disk beside it, since a worker that is gone cannot be asked. */
export interface SpoolOwner {
  readonly workerId: string;
  readonly endpointId: string;
  /** For which its bytes count; the endpoint's id where the account is not known. */
  readonly accountId: string;
}

export interface StoredSegment {
  readonly firstSequence: number;
  readonly bytes: number;
  /** Unix ms of the last write. */
  readonly lastAtMs: number;
}

export interface LogFilter {
  readonly source?: LineSource;
  readonly jobId?: string;
}

export interface SpoolRead {
  readonly lines: readonly LogLine[];
  readonly next: number;
  readonly missing: number;
}

export interface SpoolSeek extends LogFilter {
  readonly tail?: number;
  readonly sinceMs?: number;
}

const SEGMENT_BYTES = 256 * 1_024;
const OWNER_FILE = 'owner.json';
const SEGMENT = /^(\d{15})\.log$/;
const SEQUENCE_DIGITS = 15;
/** Of what a line costs in an answer beside its text. */
const LINE_OVERHEAD_BYTES = 96;

/** The kept lines of one worker, in segments of a folder of its own. One process writes to it, one batch after the other. */
export class WorkerSpool {
  readonly #folder: string;
  readonly #writes = new Semaphore(1);
  #owner: SpoolOwner;
  #segments: StoredSegment[];
  #mark: SpoolMark;
  #isRemoved = false;

  private constructor(folder: string, owner: SpoolOwner, found: { segments: StoredSegment[]; mark: SpoolMark }) {
    this.#folder = folder;
    this.#owner = owner;
    this.#segments = found.segments;
    this.#mark = found.mark;
  }

  /** Makes the folder, or takes up what an earlier life of the agent wrote. */
  static async open(folder: string, owner: SpoolOwner): Promise<WorkerSpool> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, OWNER_FILE), JSON.stringify(owner));
    return new WorkerSpool(folder, owner, await recover(folder));
  }

  /** Null where the folder is no spool. */
  static async find(folder: string): Promise<WorkerSpool | null> {
    const text = await readFile(join(folder, OWNER_FILE), 'utf8').catch(() => null);
    const owner = text === null ? null : readOwner(text);
    return owner === null ? null : new WorkerSpool(folder, owner, await recover(folder));
  }

  get owner(): SpoolOwner {
    return this.#owner;
  }

  /** How far the container's output is kept. */
  get position(): string | null {
    return this.#mark.position;
  }

  /** What was said last of that which is said once. */
  get key(): string | null {
    return this.#mark.key;
  }

  /** Sequence of the last line; 0 before the first. */
  get last(): number {
    return this.#mark.next - 1;
  }

  get segments(): readonly StoredSegment[] {
    return this.#segments;
  }

  async setOwner(owner: SpoolOwner): Promise<void> {
    this.#owner = owner;
    await writeFile(join(this.#folder, OWNER_FILE), JSON.stringify(owner));
  }

  /** Keeps the lines and what is known with them, or nothing. @throws Error of the disk */
  append(
    lines: readonly NewLine[],
    change: Partial<Pick<SpoolMark, 'position' | 'key'>>,
    nowMs: number,
  ): Promise<void> {
    return this.#writes.run(async () => {
      if (this.#isRemoved) return;
      const mark = { ...this.#mark, ...change, next: this.#mark.next + lines.length };
      const batch = encodeBatch(lines, mark);
      const segment = this.#segmentFor(batch.length, nowMs);
      const path = this.#pathOf(segment);
      try {
        await appendFile(path, batch, { mode: 0o600 });
      } catch (error) {
        // Half a batch would be taken for the end of the segment.
        await truncate(path, segment.bytes).catch(() => undefined);
        throw error;
      }
      this.#mark = mark;
      const others = this.#segments.filter((each) => each.firstSequence !== segment.firstSequence);
      this.#segments = [...others, { ...segment, bytes: segment.bytes + batch.length, lastAtMs: nowMs }];
    });
  }

  /** Lines behind one, as many as there is room for, one at least. */
  async read(after: number, filter: LogFilter, bytesMax: number): Promise<SpoolRead> {
    const oldest = this.#segments[0]?.firstSequence ?? this.#mark.next;
    const missing = Math.max(0, oldest - 1 - after);
    const lines: LogLine[] = [];
    let next = Math.min(Math.max(after, oldest - 1), this.last);
    let bytes = 0;
    for await (const line of this.#linesBehind(next)) {
      if (matches(line, filter)) {
        bytes += Buffer.byteLength(line.line) + LINE_OVERHEAD_BYTES;
        if (bytes > bytesMax && lines.length > 0) break;
        lines.push(line);
      }
      next = line.sequence;
    }
    return { lines, next, missing };
  }

  async *#linesBehind(after: number): AsyncGenerator<LogLine> {
    for (const segment of this.#segmentsBehind(after)) {
      for (const line of await this.#linesOf(segment)) if (line.sequence > after) yield line;
    }
  }

  /** Behind which line a reader begins that wants the last ones, or those since an instant. */
  async seek({ sinceMs = 0, tail = Infinity, ...filter }: SpoolSeek): Promise<number> {
    let [after, found] = [this.last, 0];
    for (const segment of this.#segments.toReversed()) {
      if (found >= tail || segment.lastAtMs < sinceMs) break;
      for (const line of (await this.#linesOf(segment)).toReversed()) {
        if (found >= tail) break;
        if (line.atMs < sinceMs || !matches(line, filter)) continue;
        found += 1;
        after = line.sequence - 1;
      }
    }
    return after;
  }

  /** Removes a segment that is not written to any more. */
  async drop(firstSequence: number): Promise<void> {
    const segment = this.#segments.find((each) => each.firstSequence === firstSequence);
    if (segment === undefined) return;
    this.#segments = this.#segments.filter((each) => each !== segment);
    await rm(this.#pathOf(segment), { force: true });
  }

  /** Nothing is left of it, and nothing comes to it any more. */
  remove(): Promise<void> {
    return this.#writes.run(async () => {
      this.#isRemoved = true;
      this.#segments = [];
      await rm(this.#folder, { recursive: true, force: true });
    });
  }

  #segmentFor(bytes: number, nowMs: number): StoredSegment {
    const last = this.#segments.at(-1);
    // One that has marks only is not left: the next one would have its name.
    const isEmpty = last?.firstSequence === this.#mark.next;
    if (last !== undefined && (isEmpty || last.bytes + bytes <= SEGMENT_BYTES)) return last;
    return { firstSequence: this.#mark.next, bytes: 0, lastAtMs: nowMs };
  }

  #segmentsBehind(after: number): readonly StoredSegment[] {
    return this.#segments.filter((_, index) => (this.#segments[index + 1]?.firstSequence ?? Infinity) > after + 1);
  }

  /** Those that were whole when the segment was looked at; none where it has gone meanwhile. */
  async #linesOf(segment: StoredSegment): Promise<readonly LogLine[]> {
    const content = await readFile(this.#pathOf(segment)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return Buffer.alloc(0);
      throw error;
    });
    return readSegment(content.subarray(0, segment.bytes), segment.firstSequence).lines;
  }

  #pathOf({ firstSequence }: Pick<StoredSegment, 'firstSequence'>): string {
    return join(this.#folder, segmentName(firstSequence));
  }
}

const matches = (line: LogLine, { jobId, source }: LogFilter): boolean =>
  (source === undefined || line.source === source) && (jobId === undefined || line.jobId === jobId);

const segmentName = (firstSequence: number): string => `${String(firstSequence).padStart(SEQUENCE_DIGITS, '0')}.log`;

function readOwner(text: string): SpoolOwner | null {
  try {
    const { accountId, endpointId, workerId } = JSON.parse(text) as Partial<SpoolOwner>;
    if (accountId === undefined || endpointId === undefined || workerId === undefined) return null;
    return { accountId, endpointId, workerId };
  } catch {
    // Interrupted while it was written, before anything else was.
    return null;
  }
}

/** What is whole of a folder: an interrupted batch at its end is cut off. */
async function recover(folder: string): Promise<{ segments: StoredSegment[]; mark: SpoolMark }> {
  const names = (await readdir(folder)).filter((name) => SEGMENT.test(name)).toSorted();
  const segments: StoredSegment[] = [];
  for (const name of names) {
    const { mtimeMs, size } = await stat(join(folder, name));
    segments.push({ firstSequence: Number(SEGMENT.exec(name)?.[1]), bytes: size, lastAtMs: Math.floor(mtimeMs) });
  }
  for (let last = segments.pop(); last !== undefined; last = segments.pop()) {
    const path = join(folder, segmentName(last.firstSequence));
    const { bytes, mark } = readSegment(await readFile(path), last.firstSequence);
    if (mark === null) {
      await rm(path, { force: true });
      continue;
    }
    if (bytes < last.bytes) await truncate(path, bytes);
    return { segments: [...segments, { ...last, bytes }], mark };
  }
  return { segments, mark: { next: 1, position: null, key: null } };
}
