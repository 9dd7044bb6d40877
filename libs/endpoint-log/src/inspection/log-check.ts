import type { EndpointState, Illegality, JobId, LogFact, LogFactKind } from '@berth/domain';
import { readLines, type FactLine } from '../batch/fact-lines.js';
import { Replay, type BrokenLog } from '../opening/read-log.js';
import type { LogEntry, StoredBatch } from '../ports/log-broker.port.js';
import { compareIndex, type IndexDifference } from './compare-index.js';
import { sumOf, type LogSum } from './log-sum.js';

/** A thing that is not as it must be. */
export type LogFinding =
  /** The message is no batch, or a line of it no fact that could be applied; `line` is null where it is the message. */
  | { readonly kind: 'unreadable'; readonly sequence: number; readonly line: number | null; readonly reason: string }
  | {
      readonly kind: 'illegal';
      readonly sequence: number;
      readonly line: number;
      readonly fact: LogFactKind;
      readonly why: Illegality;
    }
  /** It names another batch as the one before it than the one that is there. */
  | { readonly kind: 'unchained'; readonly sequence: number; readonly after: number; readonly before: number }
  | ({ readonly kind: 'other-index'; readonly sequence: number } & IndexDifference)
  /** The part before the first batch is gone, and living things in it were not carried. */
  | { readonly kind: 'beginning-gone'; readonly sequence: number };

/** The writer of a batch, as far as the log has said by then. */
export interface LogWriter {
  readonly routerId: string | null;
  readonly term: number | null;
}

/** A line of a batch, and whom it touched. */
export interface CheckedLine extends FactLine {
  /** Jobs that the fact changed; none where the replay has ended before it. */
  readonly touched: readonly JobId[];
}

/** An entry as it can be told: one that cannot be read has no lines. */
export interface CheckedEntry {
  readonly entry: LogEntry;
  readonly writer: LogWriter;
  readonly lines: readonly CheckedLine[];
}

/** Why it could not be applied is not told: that may quote it, and so a secret. */
const STRANGE = 'it is not as owners write facts';

/** Of one kind of fault there may be one in each batch, and the first ones say enough. */
const FINDINGS_MAX = 100;

/**
 * Goes through an endpoint's log from its first entry as an owner that opens it does, and says what is not as it must be. At the
 * first fault an owner would stop; from there on it looks only at what needs no replay. It holds no more than the state of
 * the endpoint, however long the log is.
 */
export class LogCheck {
  readonly findings: LogFinding[] = [];
  /** Findings in all, of which the first are kept. */
  found = 0;
  #replay: Replay | null = null;
  #isReplaying = true;
  #gaps = 0;
  #last: LogEntry | null = null;
  #first: number | null = null;
  #writer: LogWriter = { routerId: null, term: null };
  readonly #size = { batches: 0, facts: 0, bytes: 0 };

  /** Entries that do not follow the one before: what comes of reading while somebody purges is one, too. */
  get gaps(): number {
    return this.#gaps + (this.#isBeginningGone ? 1 : 0);
  }

  /** The newest entry; null: there is none. */
  get last(): LogEntry | null {
    return this.#last;
  }

  /** The next entry of the log. */
  add(entry: LogEntry): CheckedEntry {
    this.#checkChain(entry);
    this.#first ??= entry.sequence;
    this.#last = entry;
    if ('unreadable' in entry) {
      this.#find({ kind: 'unreadable', sequence: entry.sequence, line: null, reason: entry.unreadable });
      this.#isReplaying = false;
      return { entry, writer: this.#writer, lines: [] };
    }
    const lines = readLines(entry.facts);
    this.#size.batches += 1;
    this.#size.facts += lines.length;
    this.#size.bytes += entry.facts.byteLength;
    this.#writer = writerOf(this.#writer, lines);
    const touched = this.#isReplaying ? this.#apply(entry, lines) : this.#noteUnreadable(entry, lines);
    return {
      entry,
      writer: this.#writer,
      lines: lines.map((line) => ({ ...line, touched: touched.get(line.number) ?? [] })),
    };
  }

  /** The log as far as it has been read. */
  sum(): LogSum {
    const place = { first: this.#first, last: this.#last?.sequence ?? null };
    return sumOf({ ...this.#size, ...place, isComplete: this.#isReplaying, state: this.#replay?.state ?? null });
  }

  /** All findings: some of them show only at the end of the log. */
  conclude(): readonly LogFinding[] {
    if (!this.#isBeginningGone || this.#first === null) return this.findings;
    return [...this.findings, { kind: 'beginning-gone', sequence: this.#first }];
  }

  get #isBeginningGone(): boolean {
    return this.#isReplaying && this.#replay !== null && !this.#replay.state.isWhole;
  }

  #checkChain(entry: LogEntry): void {
    if (this.#last === null || 'unreadable' in entry || entry.after === this.#last.sequence) return;
    this.#gaps += 1;
    this.#isReplaying = false;
    const { after, sequence } = entry;
    this.#find({ kind: 'unchained', sequence, after, before: this.#last.sequence });
  }

  #apply(batch: StoredBatch, lines: readonly FactLine[]): ReadonlyMap<number, readonly JobId[]> {
    const touched = new Map<number, readonly JobId[]>();
    this.#replay ??= new Replay(batch.after);
    const fault = this.#replay.apply(batch, (line, jobs) =>
      touched.set(
        line,
        jobs.map(({ jobId }) => jobId),
      ),
    );
    if (fault === null) this.#compareIndex(batch, this.#replay.state);
    else if (fault.kind === 'broken') this.#stop(fault, batch, lines);
    return touched;
  }

  #compareIndex({ index, sequence }: StoredBatch, state: EndpointState): void {
    if (!state.isWhole) return;
    for (const difference of compareIndex(index, state)) this.#find({ kind: 'other-index', sequence, ...difference });
  }

  #stop({ fact }: BrokenLog, batch: StoredBatch, lines: readonly FactLine[]): void {
    this.#isReplaying = false;
    const { sequence } = batch;
    const kind = lines.find(({ number }) => number === fact?.line)?.fact?.kind;
    if (fact !== undefined && fact.why !== null && kind !== undefined) {
      this.#find({ kind: 'illegal', sequence, line: fact.line, fact: kind, why: fact.why });
    } else if (lines.some((line) => line.fact === null)) this.#noteUnreadable(batch, lines);
    else this.#find({ kind: 'unreadable', sequence, line: fact?.line ?? null, reason: STRANGE });
  }

  #noteUnreadable({ sequence }: StoredBatch, lines: readonly FactLine[]): ReadonlyMap<number, readonly JobId[]> {
    for (const { fact, number } of lines) {
      if (fact === null) this.#find({ kind: 'unreadable', sequence, line: number, reason: 'it is no fact' });
    }
    return new Map();
  }

  #find(finding: LogFinding): void {
    this.found += 1;
    if (this.findings.length < FINDINGS_MAX) this.findings.push(finding);
  }
}

function writerOf(before: LogWriter, lines: readonly FactLine[]): LogWriter {
  let writer = before;
  for (const { fact } of lines) {
    if (fact?.kind === 'opened') writer = { routerId: fact.routerId, term: fact.term };
    else writer = inTerm(writer, fact === null ? null : termOf(fact));
  }
  return writer;
}

/** Null: the fact says nothing of it. */
function termOf(fact: LogFact): number | null {
  if (fact.kind === 'endpoint-deleted') return fact.term;
  // A fact that lies in the log as `totals` may lack its members.
  return fact.kind === 'totals' ? ((fact as Partial<typeof fact>).life?.term ?? null) : null;
}

const inTerm = (writer: LogWriter, term: number | null): LogWriter =>
  term === null || term === writer.term ? writer : { routerId: null, term };
