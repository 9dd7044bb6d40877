import type { RawJson } from '@berth/domain';
import type { Logger } from '@berth/telemetry';
import {
  logged,
  type Attempt,
  type ChunkText,
  type Ending,
  type HostAttempt,
  type Loss,
  type StopReason,
} from './attempt.js';
import { beginStep, endStep } from './attempt-step.js';
import { unwrittenEnding, type AttemptRecords, type EndingRow, type StoredAttempt } from './attempt-records.js';
import type { JobClientMetrics } from '../metrics.js';
import type { ReportTools } from '../reports/repeat-report.js';
import { ReportLane } from '../reports/report-lane.js';
import type { SlowWatch } from '../reports/slow-watch.js';
import type { StoppedAttempts } from './stopped-attempts.js';
import { ShareExceededError } from './worker-shares.js';

export interface AttemptTableTools {
  readonly records: AttemptRecords;
  readonly lanes: ReportTools;
  readonly stopped: StoppedAttempts;
  /** Tells when a router takes too long for a worker to wait for it. */
  readonly slow: SlowWatch;
  readonly metrics: JobClientMetrics;
  readonly log: Logger;
  /** Told when a job must stop before its worker has finished it; once per attempt. */
  readonly onStop: (attempt: Attempt, reason: StopReason) => void;
}

interface Held {
  readonly attempt: HostAttempt;
  readonly lane: ReportLane;
  /** The ending that its worker told and has not been told to be safe: it is neither in the journal nor at a router. */
  unsafe: Ending | null;
  /** Told when a router has its end. */
  onOver: (() => void) | null;
}

type HostEnding =
  Loss | { readonly kind: 'timed-out' } | (EndingRow & { readonly kind: 'failed'; readonly output: null });

export type Intake = 'accepted' | 'dropped';

/**
 * The attempts whose end no router has acknowledged. Each ends once: by its worker's word, by this host's, or by the
 * router's, whichever is written first; what comes later is dropped.
 */
export class AttemptTable {
  readonly #tools: AttemptTableTools;
  readonly #held = new Map<string, Held>();

  constructor(tools: AttemptTableTools) {
    this.#tools = tools;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Whether an end is known that no router has acknowledged. */
  get isReporting(): boolean {
    return this.values().some(({ state }) => state === 'settled');
  }

  values(): readonly HostAttempt[] {
    return [...this.#held.values()].map(({ attempt }) => attempt);
  }

  get(id: string): HostAttempt | undefined {
    return this.#held.get(id)?.attempt;
  }

  hold(attempt: HostAttempt): void {
    beginStep(attempt, this.#tools.lanes.traces);
    const lane = new ReportLane(this.#tools.lanes, attempt, (outcome) => {
      this.#tools.metrics.reports.inc({ outcome });
      if (attempt.state === 'open') this.end(attempt, 'superseded');
      else this.#forget(attempt);
    });
    this.#held.set(attempt.id, { attempt, lane, unsafe: null, onOver: null });
  }

  /** Takes up what the journal holds; true when the attempt is still its worker's. */
  holdStored({ attempt, ending, chunkIndexes }: StoredAttempt): boolean {
    this.hold(attempt);
    const lane = this.#held.get(attempt.id)?.lane;
    lane?.addChunks(chunkIndexes);
    if (ending === null) return true;
    attempt.state = 'settled';
    lane?.addEnding(ending);
    return false;
  }

  /**
   * The worker's own word: resolves when it is safe, at a router or, where that takes long, in the journal.
   *
   * @throws JournalFullError; its worker must say it again, unless its share is used up: then it has failed
   */
  async settle(id: string, ending: Ending): Promise<Intake> {
    const held = this.#held.get(id);
    if (held === undefined) return 'dropped';
    return held.attempt.serially(async () => {
      if (held.unsafe !== null) {
        await this.#makeSafe(held, held.unsafe);
        return 'accepted';
      }
      if (held.attempt.state !== 'open') return 'dropped';
      await this.#settle(held, ending);
      return 'accepted';
    });
  }

  async #settle(held: Held, ending: Ending): Promise<void> {
    const unwritten = unwrittenEnding(ending);
    if (unwritten === null) {
      await this.#withinShare(held, async () => {
        this.#settled(held, await this.#tools.records.putEnding(held.attempt, ending));
      });
      return;
    }
    held.unsafe = ending;
    this.#settled(held, unwritten.row, unwritten.output);
    await this.#makeSafe(held, ending);
  }

  async #makeSafe(held: Held, ending: Ending): Promise<void> {
    if (!(await this.#isSoonTaken(held))) {
      await this.#withinShare(held, async () => {
        await this.#tools.records.putEnding(held.attempt, ending);
        held.lane.noteWritten();
      });
    }
    held.unsafe = null;
  }

  /** False as soon as it is known that a router will not have its end soon. */
  async #isSoonTaken(held: Held): Promise<boolean> {
    if (held.attempt.state === 'over') return true;
    if (held.lane.isTroubled) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = this.#tools.slow.begin(() => resolve(false));
    held.onOver = () => resolve(true);
    held.lane.watchTrouble(() => resolve(false));
    const isTaken = await promise;
    end();
    return isTaken;
  }

  /** An end that this host decides: it holds even when the journal refuses, as it needs nothing but memory. */
  settleByHost(id: string, row: HostEnding): Promise<Intake> {
    return this.#whileOpen(id, (held) => this.#endByHost(held, row));
  }

  /** Stream chunks in the order of the calls. @throws JournalFullError as `settle` does */
  addChunks(id: string, bodies: readonly ChunkText[]): Promise<Intake> {
    return this.#whileOpen(id, (held) =>
      this.#withinShare(held, async () => {
        const { attempt, lane } = held;
        await this.#tools.records.putChunks(attempt, bodies);
        const indexes = bodies.map((_, order) => attempt.chunks + order);
        attempt.chunks += bodies.length;
        lane.addChunks(indexes);
      }),
    );
  }

  addProgress(id: string, output: RawJson): void {
    const held = this.#held.get(id);
    if (held?.attempt.state === 'open') held.lane.addProgress(output);
  }

  /** The router has ended this attempt, so nothing is left to report; the worker must let go. */
  end(attempt: HostAttempt, reason: StopReason): void {
    // A result that is on its way gets its own answer.
    if (attempt.state !== 'open') return;
    this.#tools.stopped.hold(attempt, reason);
    this.#forget(attempt);
    this.tellStop(attempt, reason);
  }

  /** Its execution time is over, whatever its worker does. */
  timeOut(attempt: HostAttempt): void {
    if (attempt.state !== 'open') return;
    this.#tools.stopped.hold(attempt, 'timed-out');
    void this.settleByHost(attempt.id, { kind: 'timed-out' });
    this.tellStop(attempt, 'timed-out');
  }

  /** The job is gone at the router, and no worker has it. */
  drop(attempt: HostAttempt): void {
    this.#forget(attempt);
  }

  tellStop(attempt: HostAttempt, reason: StopReason): void {
    if (attempt.stop !== null) return;
    attempt.stop = reason;
    this.#tools.metrics.stops.inc({ reason });
    this.#tools.onStop(attempt, reason);
  }

  /**
   * A job whose worker has used up its share fails: a worker that is told to try again gives up after some seconds, and
   * its stream would then have a gap that nobody sees.
   */
  async #withinShare(held: Held, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (error instanceof ShareExceededError) {
        held.unsafe = null;
        await this.#endByHost(held, { kind: 'failed', error: error.message, output: null });
        this.tellStop(held.attempt, 'overfull');
      }
      throw error;
    }
  }

  async #endByHost(held: Held, row: HostEnding): Promise<void> {
    try {
      await this.#tools.records.putHostEnding(held.attempt, row);
    } catch (error) {
      this.#tools.log.error('The end of an attempt is kept in memory only.', { ...logged(held.attempt), error });
    }
    this.#settled(held, row);
  }

  async #whileOpen(id: string, action: (held: Held) => Promise<void>): Promise<Intake> {
    const held = this.#held.get(id);
    if (held === undefined) return 'dropped';
    return held.attempt.serially(async () => {
      if (held.attempt.state !== 'open') return 'dropped';
      await action(held);
      return 'accepted';
    });
  }

  #settled({ attempt, lane }: Held, row: EndingRow, output: RawJson | null = null): void {
    this.#tools.metrics.endings.inc({ kind: row.kind });
    endStep(attempt, row.kind);
    // The router has ended it while the result was being written; the removal stands in the queue already.
    if (attempt.state === 'over') return;
    if (row.kind !== 'timed-out') this.#tools.stopped.drop(attempt);
    attempt.state = 'settled';
    lane.addEnding(row, output);
  }

  #forget(attempt: HostAttempt): void {
    const held = this.#held.get(attempt.id);
    attempt.state = 'over';
    endStep(attempt, attempt.stop ?? 'dropped');
    if (held === undefined) return;
    this.#held.delete(attempt.id);
    held.onOver?.();
    this.#tools.stopped.noteOver(attempt);
    const { records, log } = this.#tools;
    attempt
      .serially(() => records.removeAttempt(attempt, held.lane.chunkIndexes))
      .catch((error: unknown) => {
        // It is sent once more after a restart, which changes nothing.
        log.warn('An attempt could not be removed from the journal.', { ...logged(attempt), error });
      });
  }
}
