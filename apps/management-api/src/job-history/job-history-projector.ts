import { PlatformError, projectEvents, type HistoryChanges, type HistoryEvent, type JobKey } from '@berth/domain';
import { inParallel, type Clock } from '@berth/lifecycle';
import type { EventBatch, UnreadableEvent } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { LeaderTerm } from '../persistence/stores/leader-lease.store.js';
import {
  RefusedRowError,
  type HistoryProgress,
  type ProjectedHistory,
  type RecordVersion,
} from './job-history-records.port.js';
import type { JobHistoryMetrics } from './metrics.js';
import type { RecordSource } from './record-source.port.js';

export interface JobHistoryProjectorOptions {
  readonly source: RecordSource;
  readonly history: ProjectedHistory;
  /** Makes the places into which rows are written. */
  readonly keepPlaces: () => Promise<void>;
  readonly clock: Clock;
  readonly term: LeaderTerm;
  readonly logger: Logger;
  readonly metrics: Omit<JobHistoryMetrics, 'failures'>;
}

/** A day that begins has its place long before; a check that fails stops the projector rather than lose a row. */
const PLACES_CHECKED_MS = 3_600_000;
/** How often it is written down that nothing is missing while nothing happens. */
const IDLE_NOTE_MS = 5_000;
const REREAD_BATCH = 500;
const READS_MAX = 16;
const UNENDED_MAX = 10_000;

const NOTHING_YET: HistoryProgress = { position: null, completeUntilMs: 0 };

/** Another leads, or nobody: whoever is next goes on from what is written. */
class TermEnd extends Error {}

/**
 * Turns records into the rows of the history, for one term of the leader. Every step may be repeated: rows are written
 * over by newer versions only, and the place among the events is kept in the same transaction as what came before it.
 */
export class JobHistoryProjector {
  readonly #options: JobHistoryProjectorOptions;
  #progress: HistoryProgress | null = null;
  #notedMs = Number.NEGATIVE_INFINITY;
  #placesCheckedMs = Number.NEGATIVE_INFINITY;
  /** Whatever a predecessor, or the stream of events, may have lost is in the records. */
  #isRereadDue = true;

  constructor(options: JobHistoryProjectorOptions) {
    this.#options = options;
  }

  /** Unix ms; null while that is not known, or nothing was ever complete. */
  get completeUntilMs(): number | null {
    const { completeUntilMs } = this.#progress ?? NOTHING_YET;
    return completeUntilMs === 0 ? null : completeUntilMs;
  }

  /**
   * Reads on to the end of the events, or to the end of the term.
   *
   * @throws PlatformError `service-unavailable`
   */
  async run(signal: AbortSignal): Promise<void> {
    try {
      this.#progress ??= (await this.#options.history.progress()) ?? NOTHING_YET;
      while (!signal.aborted && !(await this.#takeBatch(this.#progress)));
      if (this.#isRereadDue && !signal.aborted) await this.#reread(signal);
    } catch (error) {
      if (!(error instanceof TermEnd)) throw error;
    }
  }

  /** Returns whether it was the last one. */
  async #takeBatch(progress: HistoryProgress): Promise<boolean> {
    this.#requireTerm();
    await this.#keepPlaces();
    const startedAtMs = this.#options.clock.nowMs();
    const batch = await this.#options.source.events(progress.position);
    if (batch.isInterrupted) {
      this.#options.logger.warn('events of jobs were lost before they were read; all records are read instead');
      this.#isRereadDue = true;
    }
    const lastKnown = batch.isInterrupted ? null : progress.position;
    const next: HistoryProgress = {
      position: batch.events.at(-1)?.position ?? lastKnown,
      completeUntilMs: batch.isLast && !this.#isRereadDue ? startedAtMs : progress.completeUntilMs,
    };
    const isNews = batch.events.length > 0 || batch.isInterrupted;
    if (isNews || this.#options.clock.monotonicMs() - this.#notedMs >= IDLE_NOTE_MS) {
      await this.#write(this.#readable(batch), next);
      this.#notedMs = this.#options.clock.monotonicMs();
    }
    this.#progress = next;
    return batch.isLast;
  }

  /** What nobody can read would be unreadable for ever: it is told, and left out. */
  #readable({ events }: EventBatch): readonly HistoryEvent[] {
    const { logger, metrics } = this.#options;
    const isUnreadable = (event: HistoryEvent | UnreadableEvent): event is UnreadableEvent =>
      event.kind === 'unreadable';
    const unreadable = events.map(({ event }) => event).filter(isUnreadable);
    const [first] = unreadable;
    if (first !== undefined) {
      metrics.leftOut.inc({ reason: 'unreadable' }, unreadable.length);
      logger.error(`${unreadable.length} events of jobs cannot be read`, {
        subject: first.subject,
        error: first.reason,
      });
    }
    return events.flatMap(({ event }) => (event.kind === 'unreadable' ? [] : [event]));
  }

  /** One row that the database refuses must not stop the others: it is found by halving, told, and left out. */
  async #write(events: readonly HistoryEvent[], progress: HistoryProgress | null): Promise<void> {
    try {
      await this.#project(projectEvents(events), progress);
    } catch (error) {
      if (!(error instanceof RefusedRowError) || events.length === 0) throw error;
      if (events.length === 1) {
        this.#options.metrics.leftOut.inc({ reason: 'refused' });
        this.#options.logger.error('a job cannot be put into the history', { ...nameOf(events[0]), error });
        await this.#write([], progress);
        return;
      }
      const half = Math.ceil(events.length / 2);
      await this.#write(events.slice(0, half), null);
      await this.#write(events.slice(half), progress);
    }
  }

  async #project(changes: HistoryChanges, progress: HistoryProgress | null): Promise<void> {
    const { history, metrics, term } = this.#options;
    const outcome = await history.project(changes, progress, term);
    if (outcome === null) throw new TermEnd();
    metrics.rows.inc({ change: 'written' }, outcome.written);
    metrics.rows.inc({ change: 'removed' }, outcome.removed);
    metrics.leftOut.inc({ reason: 'placeless' }, outcome.placeless);
    metrics.leftOut.inc({ reason: 'ownerless' }, outcome.ownerless);
  }

  #requireTerm(): void {
    if (this.#options.term.isOver()) throw new TermEnd();
  }

  async #keepPlaces(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#placesCheckedMs < PLACES_CHECKED_MS) return;
    await this.#options.keepPlaces();
    this.#placesCheckedMs = nowMs;
  }

  /** Compares every record with its row, by version alone, and reads those that differ. */
  async #reread(signal: AbortSignal): Promise<void> {
    const { metrics, source } = this.#options;
    for await (const versions of source.versions(signal)) {
      for (let from = 0; from < versions.length && !signal.aborted; from += REREAD_BATCH) {
        await this.#fill(versions.slice(from, from + REREAD_BATCH));
      }
    }
    if (signal.aborted) return;
    await this.#dropVanished();
    metrics.rereads.inc();
    this.#isRereadDue = false;
  }

  async #fill(versions: readonly RecordVersion[]): Promise<void> {
    const { history } = this.#options;
    this.#requireTerm();
    const missing = await history.missing(versions);
    const found = await inParallel(missing, READS_MAX, (version) => this.#read(version));
    const events = found.flatMap((event) => event ?? []);
    if (events.length > 0) await this.#write(events, null);
  }

  async #read(key: JobKey): Promise<HistoryEvent | null> {
    try {
      const stored = await this.#options.source.read(key);
      return stored === null ? null : { kind: 'changed', job: stored.job, recordSequence: stored.sequence };
    } catch (error) {
      if (isUnavailable(error)) throw error;
      this.#options.metrics.leftOut.inc({ reason: 'unreadable' });
      this.#options.logger.error('a record cannot be read', { ...key, error });
      return null;
    }
  }

  /** One that cannot be read is there all the same. */
  async #hasRecord(key: JobKey): Promise<boolean> {
    try {
      return (await this.#options.source.read(key)) !== null;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      return true;
    }
  }

  /** Of a record that was removed by hand no event tells. */
  async #dropVanished(): Promise<void> {
    const { history } = this.#options;
    const unended = await history.unended(UNENDED_MAX);
    const vanished = await inParallel(unended, READS_MAX, async ({ recordSequence, ...key }) =>
      (await this.#hasRecord(key)) ? [] : [{ kind: 'removed', key, recordSequence: recordSequence + 1 } as const],
    );
    if (vanished.flat().length > 0) await this.#write(vanished.flat(), null);
  }
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof PlatformError && error.code === 'service-unavailable';

const nameOf = (event: HistoryEvent | undefined): Partial<JobKey> => {
  if (event === undefined) return {};
  return event.kind === 'removed' ? event.key : { endpointId: event.job.endpointId, jobId: event.job.id };
};
