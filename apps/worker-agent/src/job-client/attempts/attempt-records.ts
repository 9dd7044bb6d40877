import { createHash } from 'node:crypto';
import type { AttemptRef } from '@berth/contracts';
import { INLINE_OUTPUT_MAX_BYTES, type RawJson, type WorkerId } from '@berth/domain';
import { TurnPace, type Clock } from '@berth/lifecycle';
import type { Journal, JournalEntry } from '../../journal/index.js';
import { HostAttempt, type ChunkText, type Ending, type JsonOutput, type Loss, type StopReason } from './attempt.js';
import { WorkerShares, type Body, type WorkerShare } from './worker-shares.js';

/** An attempt in the journal. Unix ms: the monotonic clock starts anew with the machine. */
interface AttemptRow {
  readonly ref: AttemptRef;
  readonly workerId: WorkerId;
  readonly traceparent: string | null;
  readonly executionEndsAtMs: number;
  readonly expiresAtMs: number;
}

/** How an attempt ended; the output's text lies beside it. */
export type EndingRow =
  | { readonly kind: 'completed'; readonly output: OutputFacts | null }
  | { readonly kind: 'failed'; readonly error: string; readonly output: OutputFacts | null }
  | { readonly kind: 'timed-out' }
  | Loss;

/** An attempt whose worker was told to stop. Unix ms. */
interface StoppedRow extends AttemptRow {
  readonly reason: StopReason;
  readonly letGoAtMs: number | null;
  /** Absent in a row that an older agent wrote. */
  readonly logTail?: readonly string[];
}

export interface OutputFacts {
  readonly sizeBytes: number;
  /** Lower-case hex; null for an output small enough to travel inside the report. */
  readonly sha256: string | null;
}

/** One attempt as the journal holds it. */
export interface StoredAttempt {
  readonly attempt: HostAttempt;
  readonly ending: EndingRow | null;
  /** Indexes of the chunks whose text is still there, ascending. */
  readonly chunkIndexes: readonly number[];
}

const ATTEMPT = 'attempt/';
const ENDING = 'ending/';
const CHUNK = 'chunk/';
const STOPPED = 'stopped/';

const chunkKey = (id: string, index: number): string => `${CHUNK}${id}/${index.toString().padStart(9, '0')}`;

/** The attempts of this host on its disk. */
export class AttemptRecords {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #shares: WorkerShares;
  /** Large bodies are given out one in a turn of the event loop: what is made of each takes a millisecond or more. */
  readonly #largeBodies = new TurnPace({ amountMax: 1, resumedMax: 1 });

  constructor({ clock, journal, share }: { journal: Journal; clock: Clock; share: WorkerShare }) {
    this.#journal = journal;
    this.#clock = clock;
    this.#shares = new WorkerShares(share);
  }

  get hasRoom(): boolean {
    return this.#journal.hasRoom;
  }

  /** Whether a worker's share has room for what a new job will bring. */
  hasRoomOf(workerId: WorkerId): boolean {
    return this.#shares.hasRoom(workerId);
  }

  /** Before the worker hears of the job. A machine that dies takes the worker along. @throws JournalFullError */
  putAttempt(attempt: HostAttempt): Promise<void> {
    return this.#putByHost(attempt, this.#attemptEntries(attempt), 'process');
  }

  /** Before the worker hears that its result is safe, where no router has it yet. @throws JournalFullError, ShareExceededError */
  async putEnding(attempt: HostAttempt, ending: Ending): Promise<EndingRow> {
    const { row, body } = toEndingRow(ending);
    const entry: JournalEntry = { key: ENDING + attempt.id, value: row, ...(body === null ? {} : { body }) };
    await this.#putBodies(attempt, [entry]);
    attempt.isRecorded = true;
    return row;
  }

  /** An end that this host decides is written whatever its worker's share is. @throws JournalFullError */
  putHostEnding(attempt: HostAttempt, row: EndingRow): Promise<void> {
    const entries = [...this.#attemptEntries(attempt), { key: ENDING + attempt.id, value: row }];
    return this.#putByHost(attempt, entries, 'machine');
  }

  async #putByHost(
    attempt: HostAttempt,
    entries: readonly JournalEntry[],
    outlives: 'process' | 'machine',
  ): Promise<void> {
    const claims = claimsOf(entries);
    for (const claim of claims) this.#shares.adopt(attempt.workerId, claim);
    await this.#putClaimed(claims, () => this.#journal.put(entries, outlives));
    attempt.isRecorded = true;
  }

  /** @throws JournalFullError, ShareExceededError */
  putChunks(attempt: HostAttempt, bodies: readonly ChunkText[]): Promise<void> {
    const entries = bodies.map((body, order): JournalEntry => {
      return { key: chunkKey(attempt.id, attempt.chunks + order), value: null, body };
    });
    return this.#putBodies(attempt, entries);
  }

  #putBodies(attempt: HostAttempt, entries: readonly JournalEntry[]): Promise<void> {
    const all = [...this.#attemptEntries(attempt), ...entries];
    const claims = claimsOf(all);
    this.#shares.claim(attempt.workerId, claims);
    return this.#putClaimed(claims, () => this.#journal.put(all));
  }

  async #putClaimed(claims: readonly Body[], put: () => Promise<void>): Promise<void> {
    try {
      await put();
    } catch (error) {
      this.#shares.release(claims.map(({ key }) => key));
      throw error;
    }
  }

  async #removeRecords(keys: readonly string[]): Promise<void> {
    await this.#journal.remove(keys);
    this.#shares.release([...keys, ...keys.map(rowKey)]);
  }

  /** Null when its text is not there. */
  chunkBytes(attempt: HostAttempt, index: number): number | null {
    return this.#journal.bodyBytes(chunkKey(attempt.id, index));
  }

  async readChunk(attempt: HostAttempt, index: number): Promise<RawJson | null> {
    const bytes = await this.#readBody(chunkKey(attempt.id, index), 0, WHOLE_BODY_BYTES);
    return bytes === null ? null : (bytes.toString('utf8') as RawJson);
  }

  readOutput(attempt: HostAttempt, offset: number, length: number): Promise<Buffer | null> {
    return this.#readBody(ENDING + attempt.id, offset, length);
  }

  async #readBody(key: string, offset: number, length: number): Promise<Buffer | null> {
    const bytes = await this.#journal.readBody(key, offset, length);
    if (bytes === null || bytes.byteLength < LARGE_BODY_BYTES) return bytes;
    await new Promise<void>((resolve) => this.#largeBodies.nextTurn(resolve));
    return bytes;
  }

  removeChunks(attempt: HostAttempt, indexes: readonly number[]): Promise<void> {
    return this.#removeRecords(indexes.map((index) => chunkKey(attempt.id, index)));
  }

  removeAttempt(attempt: HostAttempt, chunkIndexes: readonly number[]): Promise<void> {
    const chunks = chunkIndexes.map((index) => chunkKey(attempt.id, index));
    return this.#removeRecords([ENDING + attempt.id, ...chunks, ATTEMPT + attempt.id]);
  }

  /** An attempt that its worker shall let go, or has let go. @throws JournalFullError */
  putStopped(attempt: HostAttempt, reason: StopReason): Promise<void> {
    const { letGo } = attempt;
    const letGoAtMs = letGo === null ? null : this.#toUnix(letGo.atMs);
    const row: StoppedRow = { ...this.#toRow(attempt), reason, letGoAtMs, logTail: letGo?.logTail ?? [] };
    return this.#journal.put([{ key: STOPPED + attempt.id, value: row }]);
  }

  removeStopped(attempt: HostAttempt): Promise<void> {
    return this.#journal.remove([STOPPED + attempt.id]);
  }

  /** Attempts that were told to stop and that no router has heard the end of. */
  loadStopped(): readonly { readonly attempt: HostAttempt; readonly reason: StopReason }[] {
    return this.#journal.list(STOPPED).map(({ value }) => {
      const row = value as StoppedRow;
      const attempt = this.#toAttempt(row);
      const { letGoAtMs, logTail = [] } = row;
      attempt.letGo = letGoAtMs === null ? null : { atMs: this.#toMonotonic(letGoAtMs), logTail };
      return { attempt, reason: row.reason };
    });
  }

  /** Every attempt that has not ended at a router, as the journal holds it. Nothing of it is trusted: how old the leases are is not known. */
  load(): readonly StoredAttempt[] {
    const endings = new Map(this.#journal.list(ENDING).map(({ key, value }) => [key, value as EndingRow]));
    const chunkKeys = this.#journal.list(CHUNK).map(({ key }) => key);
    return this.#journal.list(ATTEMPT).map(({ value }) => {
      const attempt = this.#toAttempt(value as AttemptRow);
      const chunkIndexes = indexesOf(chunkKeys, attempt.id);
      attempt.chunks = (chunkIndexes.at(-1) ?? -1) + 1;
      this.#adoptBodies(attempt, [ENDING + attempt.id, ...chunkIndexes.map((index) => chunkKey(attempt.id, index))]);
      const ending = endings.get(ENDING + attempt.id) ?? null;
      const rows = [
        { key: ATTEMPT + attempt.id, value },
        ...(ending === null ? [] : [{ key: ENDING + attempt.id, value: ending }]),
      ];
      for (const claim of claimsOf(rows)) this.#shares.adopt(attempt.workerId, claim);
      return { attempt, ending, chunkIndexes };
    });
  }

  #adoptBodies({ workerId }: HostAttempt, keys: readonly string[]): void {
    for (const key of keys) {
      const bytes = this.#journal.bodyBytes(key);
      if (bytes !== null) this.#shares.adopt(workerId, { key, bytes });
    }
  }

  #toAttempt(row: AttemptRow): HostAttempt {
    const attempt = new HostAttempt({
      ref: row.ref,
      workerId: row.workerId,
      traceparent: row.traceparent,
      executionEndsAtMs: this.#toMonotonic(row.executionEndsAtMs),
      expiresAtMs: this.#toMonotonic(row.expiresAtMs),
      trustedUntilMs: 0,
    });
    attempt.isRecorded = true;
    return attempt;
  }

  #attemptEntries(attempt: HostAttempt): JournalEntry[] {
    return attempt.isRecorded ? [] : [{ key: ATTEMPT + attempt.id, value: this.#toRow(attempt) }];
  }

  #toRow(attempt: HostAttempt): AttemptRow {
    return {
      ref: attempt.ref,
      workerId: attempt.workerId,
      traceparent: attempt.traceparent,
      executionEndsAtMs: this.#toUnix(attempt.executionEndsAtMs),
      expiresAtMs: this.#toUnix(attempt.expiresAtMs),
    };
  }

  #toUnix(monotonicMs: number): number {
    return this.#clock.nowMs() + (monotonicMs - this.#clock.monotonicMs());
  }

  #toMonotonic(unixMs: number): number {
    return this.#clock.monotonicMs() + (unixMs - this.#clock.nowMs());
  }
}

const LARGE_BODY_BYTES = 64 * 1024;
const UNWRITTEN_MAX_CHARACTERS = 64 * 1024;
/** Above any body that the bridge lets in. */
const WHOLE_BODY_BYTES = 64 * 1024 * 1024;

const rowKey = (key: string): string => `row ${key}`;

/**
 * The parts of their worker's share that entries take: their bodies, and their own text, in which an error or log lines
 * may lie.
 */
const claimsOf = (entries: readonly JournalEntry[]): readonly Body[] =>
  entries.flatMap(({ body, key, value }) => [
    ...(body === undefined ? [] : [{ key, bytes: Buffer.byteLength(body, 'utf8') }]),
    ...(value === null
      ? []
      : [{ key: rowKey(key), bytes: Buffer.byteLength(JSON.stringify(value), 'utf8'), isRow: true }]),
  ]);

function indexesOf(chunkKeys: readonly string[], id: string): readonly number[] {
  const prefix = `${CHUNK}${id}/`;
  return chunkKeys.filter((key) => key.startsWith(prefix)).map((key) => Number(key.slice(prefix.length)));
}

/**
 * An ending that need not be in the journal to be sent: as it would stand there, and its output's text. Null: it must be,
 * for its output is sent in parts, or is too large to be kept in memory beside many others.
 */
export function unwrittenEnding(ending: Ending): { readonly row: EndingRow; readonly output: RawJson | null } | null {
  if (ending.kind === 'timed-out' || ending.kind === 'lost') return null;
  const { output } = ending;
  if (output !== null && (typeof output !== 'string' || output.length > UNWRITTEN_MAX_CHARACTERS)) return null;
  return { row: toEndingRow(ending).row, output };
}

function toEndingRow(ending: Ending): { row: EndingRow; body: string | Uint8Array | null } {
  if (ending.kind === 'timed-out' || ending.kind === 'lost') return { row: ending, body: null };
  const { output } = ending;
  if (output === null) return { row: { ...ending, output }, body: null };
  return { row: { ...ending, output: factsOf(output) }, body: typeof output === 'string' ? output : output.utf8 };
}

function factsOf(output: JsonOutput): OutputFacts {
  if (typeof output !== 'string') return { sizeBytes: output.utf8.byteLength, sha256: output.sha256 };
  const bytes = Buffer.from(output, 'utf8');
  const isInline = bytes.byteLength <= INLINE_OUTPUT_MAX_BYTES;
  return { sizeBytes: bytes.byteLength, sha256: isInline ? null : createHash('sha256').update(bytes).digest('hex') };
}
