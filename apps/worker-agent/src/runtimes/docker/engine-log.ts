import type { PrintedBatch, PrintedLine } from '../container-runtime.port.js';

const HEADER_BYTES = 8;
const SIZE_OFFSET = 4;
const NANO_DIGITS = 9;
/** `2026-06-01T12:05:04.000000001Z`: the engine tells all nine digits, or fewer where the last are zeros. */
const ENTRY = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?Z (.*)$/s;
const MS_PER_SECOND = 1_000;
/** A line that does not end is told in pieces of this length. */
const PIECE_CHARACTERS = 64 * 1_024;

/** Where a reader stands in the log of one container: behind so many entries of one instant. */
interface EnginePosition {
  readonly containerId: string;
  /** Unix seconds with nine digits after the point, as the engine takes it for `since`; empty: at the beginning. */
  readonly since: string;
  readonly count: number;
}

/** Null, or of another container: the beginning of this one. */
function positionIn(text: string | null, containerId: string): EnginePosition {
  const [id, since = '', count = '0'] = (text ?? '').split(' ');
  return id === containerId && /^\d+\.\d{9}$/.test(since)
    ? { containerId, since, count: Number(count) }
    : { containerId, since: '', count: 0 };
}

const formatPosition = ({ containerId, count, since }: EnginePosition): string =>
  `${containerId} ${since} ${String(count)}`;

/** One frame: what the container wrote in one go, or a piece of it. */
interface Entry {
  readonly stream: number;
  readonly since: string;
  readonly text: string;
}

/**
 * Reads the engine's answer to a question for a container's log with the time of each entry. The engine begins with the
 * instant that it is asked for, so the entries of that instant which are known are left out; where they do not come, they
 * are gone, and what came after them may be too.
 *
 * An engine whose files rotate faster than it reads them goes back within one answer, and tells again from an earlier
 * entry on; somewhere behind that it leaves entries out. Those of one stream come in their order, so that is seen.
 */
export class EngineLog {
  #rest: Buffer = Buffer.alloc(0);
  #known: number;
  #position: EnginePosition;
  /** Behind the last line that was told. */
  #told: EnginePosition;
  #isGap = false;
  /** The instant of the latest entry of each stream. */
  readonly #latest = new Map<number, string>();
  #isToldAgain = false;
  /** The beginning of a line of one of the two streams. */
  #begun: Entry | null = null;

  constructor(position: string | null, containerId: string) {
    this.#position = positionIn(position, containerId);
    this.#told = this.#position;
    this.#known = this.#position.count;
  }

  /** For the question: what was printed from this instant on; null: everything. */
  get since(): string | null {
    return this.#position.since === '' ? null : this.#position.since;
  }

  /** The lines that are whole now; null where there are none. */
  take(chunk: Buffer): PrintedBatch | null {
    const frames = Buffer.concat([this.#rest, chunk]);
    const lines: PrintedLine[] = [];
    let at = 0;
    while (at + HEADER_BYTES <= frames.length) {
      const end = at + HEADER_BYTES + frames.readUInt32BE(at + SIZE_OFFSET);
      if (end > frames.length) break;
      const entry = entryOf(frames[at] ?? 0, frames.subarray(at + HEADER_BYTES, end));
      at = end;
      if (entry === null || this.#isKnown(entry) || this.#isOfBefore(entry)) continue;
      const before = this.#position;
      this.#count(entry.since);
      lines.push(...this.#add(entry, before));
    }
    this.#rest = frames.subarray(at);
    return this.#batch(lines);
  }

  /** What is left of a line that nobody will end. */
  finish(): PrintedBatch | null {
    const lines = this.#begun === null ? [] : [lineOf(this.#begun)];
    this.#begun = null;
    this.#told = this.#position;
    return this.#batch(lines);
  }

  #batch(lines: readonly PrintedLine[]): PrintedBatch | null {
    if (lines.length === 0) return null;
    const isGap = this.#isGap;
    this.#isGap = false;
    return { lines, position: formatPosition(this.#told), isGap };
  }

  #isKnown({ since }: Entry): boolean {
    if (this.#known === 0) return false;
    if (since === this.#position.since) {
      this.#known -= 1;
      return true;
    }
    this.#known = 0;
    this.#isGap = true;
    return false;
  }

  #isOfBefore({ since, stream }: Entry): boolean {
    const latest = this.#latest.get(stream) ?? '';
    if (since < latest) this.#isToldAgain = true;
    if (this.#isToldAgain && since <= latest) return true;
    if (this.#isToldAgain) this.#isGap = true;
    this.#isToldAgain = false;
    this.#latest.set(stream, since);
    return false;
  }

  #count(since: string): void {
    const { containerId, count } = this.#position;
    this.#position = { containerId, since, count: since === this.#position.since ? count + 1 : 1 };
  }

  /** @param before where it begins: whoever goes on while its line has no end yet begins there */
  #add(entry: Entry, before: EnginePosition): readonly PrintedLine[] {
    const begun = this.#begun;
    this.#begun = null;
    if (begun !== null && (begun.stream !== entry.stream || this.#isGap))
      return [lineOf(begun), ...this.#add(entry, before)];
    const whole = begun === null ? entry : { ...begun, text: begun.text + entry.text };
    if (whole.text.endsWith('\n') || whole.text.length >= PIECE_CHARACTERS) {
      this.#told = this.#position;
      return [lineOf(whole)];
    }
    if (begun === null) this.#told = before;
    this.#begun = whole;
    return [];
  }
}

function entryOf(stream: number, bytes: Buffer): Entry | null {
  const [, seconds, nanos = '', text] = ENTRY.exec(bytes.toString()) ?? [];
  if (seconds === undefined || text === undefined) return null;
  const unix = String(Date.parse(`${seconds}Z`) / MS_PER_SECOND);
  return { stream, since: `${unix}.${nanos.padEnd(NANO_DIGITS, '0')}`, text };
}

const lineOf = ({ since, text }: Entry): PrintedLine => ({
  atMs: Math.floor(Number(since) * MS_PER_SECOND),
  text: text.endsWith('\n') ? text.slice(0, -1) : text,
});
