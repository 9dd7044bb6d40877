import type { PrintedBatch, PrintedLine } from '../../container-runtime.port.js';

const ENTRY = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2}) (.*)$/s;
const NANO_DIGITS = 9;
const MS_PER_SECOND = 1_000;
const NEWLINE = 0x0a;
/** A line that does not end is told in pieces of this length. */
const PIECE_BYTES = 64 * 1_024;
/** Two outputs of one program are read side by side, and their entries may be out of order by an instant. */
const ORDER_S = 1;

interface Entry {
  readonly second: number;
  /** Unix seconds with nine digits after the point. */
  readonly instant: string;
  readonly text: string;
}

interface LogPosition {
  /** Unix second from which on lines are counted; 0: from the beginning. */
  readonly anchor: number;
  /** How many from there on were told, and the latest instant of them. */
  readonly count: number;
  readonly latest: string;
}

const BEGINNING: LogPosition = { anchor: 0, count: 0, latest: '' };

/** Of what is no line of a program. */
const WORDS_CHARACTERS_MAX = 500;

/** Null, or of another Pod: the beginning of this one. */
function positionIn(text: string | null, uid: string): LogPosition {
  const [id, anchor = '', count = '', latest = ''] = (text ?? '').split(' ');
  return id === uid && /^\d+ \d+$/.test(`${anchor} ${count}`)
    ? { anchor: Number(anchor), count: Number(count), latest }
    : BEGINNING;
}

/**
 * Reads the API's answer to a question for a Pod's log with the time of each line. The API goes back to whole seconds
 * only, so a position is a second and how many lines from there on are known. Where those do not come again, they are
 * gone, and what came after them may be too.
 */
export class PodLog {
  readonly #uid: string;
  #rest: Buffer = Buffer.alloc(0);
  #anchor: number;
  #latest: string;
  /** Of those that come again, how many are still to come. */
  #known: number;
  /** Lines from the anchor on, by their second. */
  readonly #counts = new Map<number, number>();
  #isGap = false;
  #words: string | null = null;
  /** Of a line whose beginning was told, as it had no end yet. */
  #begun: Entry | null = null;

  constructor(position: string | null, uid: string) {
    const { anchor, count, latest } = positionIn(position, uid);
    this.#uid = uid;
    this.#anchor = anchor;
    this.#known = count;
    this.#latest = latest;
  }

  /** For the question: what was printed from this second on, as RFC 3339; null: everything. */
  get sinceTime(): string | null {
    return this.#anchor === 0 ? null : new Date(this.#anchor * MS_PER_SECOND).toISOString();
  }

  /** What a kubelet said last in place of a log that it cannot read, or not to its end; null: nothing. */
  get words(): string | null {
    return this.#words;
  }

  /** The lines that are whole now; null where there are none. */
  take(bytes: Uint8Array): PrintedBatch | null {
    const all = Buffer.concat([this.#rest, bytes]);
    const lines: PrintedLine[] = [];
    let at = 0;
    for (let end = all.indexOf(NEWLINE); end !== -1; end = all.indexOf(NEWLINE, at)) {
      lines.push(...this.#line(all.subarray(at, end)));
      at = end + 1;
    }
    this.#rest = all.subarray(at);
    if (this.#rest.length >= PIECE_BYTES) lines.push(...this.#piece());
    return this.#batch(lines);
  }

  /** What is left of a line that nobody will end. */
  finish(): PrintedBatch | null {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest.length === 0 ? null : this.#batch(this.#line(rest));
  }

  #batch(lines: readonly PrintedLine[]): PrintedBatch | null {
    if (lines.length === 0) return null;
    const isGap = this.#isGap;
    this.#isGap = false;
    const count = [...this.#counts.values()].reduce((sum, each) => sum + each, 0);
    return { lines, position: [this.#uid, this.#anchor, count, this.#latest].join(' '), isGap };
  }

  #line(bytes: Buffer): readonly PrintedLine[] {
    const entry = this.#begun === null ? entryOf(bytes.toString()) : { ...this.#begun, text: bytes.toString() };
    const isRest = this.#begun !== null;
    this.#begun = null;
    if (entry === null) {
      this.#words = wordsOf(bytes.toString()) ?? this.#words;
      return [];
    }
    const isKnown = this.#isKnown(entry);
    this.#count(entry);
    return isKnown && !isRest ? [] : [lineOf(entry)];
  }

  /** It is counted at its end: who goes on before that gets it anew. */
  #piece(): readonly PrintedLine[] {
    const text = this.#rest.toString();
    const entry = this.#begun === null ? entryOf(text) : { ...this.#begun, text };
    if (entry === null || (this.#begun === null && this.#known > 0 && entry.instant <= this.#latest)) return [];
    this.#begun = entry;
    this.#rest = Buffer.alloc(0);
    return [lineOf(entry)];
  }

  #isKnown({ instant }: Entry): boolean {
    if (this.#known === 0) return false;
    if (instant <= this.#latest) {
      this.#known -= 1;
      return true;
    }
    this.#known = 0;
    this.#isGap = true;
    return false;
  }

  #count({ instant, second }: Entry): void {
    this.#counts.set(second, (this.#counts.get(second) ?? 0) + 1);
    if (instant > this.#latest) this.#latest = instant;
    // While known ones come again, the second that they are counted from stays.
    if (this.#known > 0) return;
    this.#anchor = Math.max(this.#anchor, Math.floor(Number(this.#latest)) - ORDER_S);
    for (const each of this.#counts.keys()) if (each < this.#anchor) this.#counts.delete(each);
  }
}

/**
 * What a program has printed of an answer with the time of each line, and the last of what it has not. A kubelet puts the
 * time before every line of a log, and before none of its own words (`unable to retrieve container logs for …`), which come
 * with the same 200; a program may print the very same words, so what they are does not count.
 */
export function printedIn(text: string): { readonly printed: readonly string[]; readonly words: string | null } {
  const lines = text.replace(/\n$/, '').split('\n');
  const entries = lines.map((line) => ({ line, entry: entryOf(line) }));
  return {
    printed: entries.flatMap(({ entry }) => entry?.text ?? []),
    words: entries.flatMap(({ entry, line }) => (entry === null ? (wordsOf(line) ?? []) : [])).at(-1) ?? null,
  };
}

const wordsOf = (line: string): string | null =>
  line.trim() === '' ? null : line.trim().slice(0, WORDS_CHARACTERS_MAX);

function entryOf(line: string): Entry | null {
  const [, seconds, nanos = '', zone = 'Z', text] = ENTRY.exec(line) ?? [];
  if (seconds === undefined || text === undefined) return null;
  const second = Date.parse(`${seconds}${zone}`) / MS_PER_SECOND;
  return { second, instant: `${String(second)}.${nanos.padEnd(NANO_DIGITS, '0')}`, text };
}

const lineOf = ({ instant, text }: Entry): PrintedLine => ({
  atMs: Math.floor(Number(instant) * MS_PER_SECOND),
  text,
});
