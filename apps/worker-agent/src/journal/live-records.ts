import type { Change } from './frame.js';

/** One live record and where it lies. */
export interface LiveRecord {
  readonly value: string;
  /** Name of the side file that holds the body, or null. */
  readonly file: string | null;
  readonly segment: number;
  readonly bytes: number;
}

/** The records that the journal holds now: the outcome of all commits in order. */
export class LiveRecords {
  readonly #records = new Map<string, LiveRecord>();
  readonly #liveBySegment = new Map<number, number>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): LiveRecord | undefined {
    return this.#records.get(key);
  }

  entries(): IterableIterator<[string, LiveRecord]> {
    return this.#records.entries();
  }

  /** Number of live records in a segment. */
  liveIn(segment: number): number {
    return this.#liveBySegment.get(segment) ?? 0;
  }

  keysIn(segment: number): readonly string[] {
    return [...this.#records].filter(([, record]) => record.segment === segment).map(([key]) => key);
  }

  /** Applies one commit; returns the side files that nothing names any more. */
  apply(changes: readonly Change[], segment: number): readonly string[] {
    const orphans: string[] = [];
    for (const change of changes) {
      const old = this.#records.get(change.key);
      if (old !== undefined) this.#forget(change.key, old);
      const file = change.kind === 'put' ? change.file : null;
      if (old !== undefined && old.file !== null && old.file !== file) orphans.push(old.file);
      if (change.kind === 'put') this.#add(change, segment);
    }
    return orphans;
  }

  #add(change: Change & { kind: 'put' }, segment: number): void {
    const bytes = sizeOf(change);
    this.#records.set(change.key, { value: change.value, file: change.file, segment, bytes });
    this.#bytes += bytes;
    this.#liveBySegment.set(segment, this.liveIn(segment) + 1);
  }

  #forget(key: string, record: LiveRecord): void {
    this.#records.delete(key);
    this.#bytes -= record.bytes;
    const left = this.liveIn(record.segment) - 1;
    if (left === 0) this.#liveBySegment.delete(record.segment);
    else this.#liveBySegment.set(record.segment, left);
  }
}

/** The bytes that a change takes in the log, near enough for a budget. */
export const sizeOf = (change: Change): number =>
  change.kind === 'put' ? change.key.length + change.value.length + FRAME_OVERHEAD_BYTES : FRAME_OVERHEAD_BYTES;

const FRAME_OVERHEAD_BYTES = 48;
