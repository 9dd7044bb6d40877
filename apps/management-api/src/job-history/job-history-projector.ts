import { HISTORY_READ_INTERVAL_MS, type HistoryReadMessage } from '@berth/contracts';
import { projectFacts, rowsBefore, type HistoryRow } from '@berth/domain';
import { inParallel, type Clock } from '@berth/lifecycle';
import type { ShardLogPage } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { LeaderTerm } from '../leadership/index.js';
import type { ShardLogReader } from './shard-log-reader.port.js';
import type { JobHistoryMetrics } from './metrics.js';
import type { ProjectedHistory, ShardMove, ShardProgress } from './projected-history.port.js';
import { RefusedRowError } from './refused-row-error.js';

export interface JobHistoryProjectorOptions {
  readonly source: ShardLogReader;
  readonly shards: number;
  readonly history: ProjectedHistory;
  /** Tells the routers how far the logs have been read. */
  readonly tellRead: (message: HistoryReadMessage) => void;
  /** Makes the places into which rows are written. */
  readonly keepPlaces: () => Promise<void>;
  readonly clock: Clock;
  readonly term: LeaderTerm;
  readonly logger: Logger;
  readonly metrics: Pick<JobHistoryMetrics, 'rows' | 'leftOut' | 'missed'>;
}

/** A day that begins has its place long before; a check that fails stops the projector rather than lose a row. */
const PLACES_CHECKED_MS = 3_600_000;
/** How often it is written down that nothing is missing while nothing happens. */
const CONFIRM_INTERVAL_MS = 5_000;
/** Shards that are read at one time: each takes a connection of the pool, which has others to serve. */
const LANES = 3;

/**
 * Turns the facts in the logs of endpoints into the rows of the history, shard by shard. The rows of a page and the place
 * behind it are written together, and only where the shard still is where the page began: so each fact counts once,
 * also where another projector reads the same, and a crash anywhere costs nothing but time.
 */
export class JobHistoryProjector {
  readonly #options: JobHistoryProjectorOptions;
  #progress = new Map<number, ShardProgress>();
  /** True where another process may have gone on: then it has written how far. */
  #isBehind = true;
  #placesCheckedMs = Number.NEGATIVE_INFINITY;
  #confirmedMs = Number.NEGATIVE_INFINITY;
  #toldMs = Number.NEGATIVE_INFINITY;

  constructor(options: JobHistoryProjectorOptions) {
    this.#options = options;
  }

  /** Everything that ended before this instant (Unix ms) is in the history; null while that is not known, or never was. */
  get completeUntilMs(): number | null {
    if (this.#progress.size !== this.#options.shards) return null;
    let earliest = Number.POSITIVE_INFINITY;
    for (const { completeUntilMs } of this.#progress.values()) earliest = Math.min(earliest, completeUntilMs ?? 0);
    return earliest === 0 ? null : earliest;
  }

  /**
   * Reads every shard to its end, or to the end of the term. A shard that cannot be read or written does not stop the
   * others.
   *
   * @throws PlatformError `service-unavailable`, or whatever kept a shard from being read or written
   */
  async run(signal: AbortSignal): Promise<void> {
    await this.#catchUp();
    await this.#keepPlaces();
    this.#tellRead();
    const failures: unknown[] = [];
    let open = Array.from({ length: this.#options.shards }, (_, shard) => shard);
    while (open.length > 0 && !signal.aborted && !this.#options.term.isOver()) {
      const hasMore = await inParallel(open, LANES, (shard) =>
        this.#takePage(shard).catch((error: unknown) => {
          failures.push(error);
          return false;
        }),
      );
      open = open.filter((_, order) => hasMore[order]);
      this.#tellRead();
    }
    await this.#confirm();
    if (failures.length > 0) throw failures[0];
  }

  async #catchUp(): Promise<void> {
    if (!this.#isBehind) return;
    this.#progress = new Map(await this.#options.history.progress());
    this.#isBehind = false;
  }

  /** Returns whether there is more to read. */
  async #takePage(shard: number): Promise<boolean> {
    const { clock, history, source } = this.#options;
    const startedAtMs = clock.nowMs();
    const known = this.#progress.get(shard);
    const page = await source.read(shard, known?.position ?? null);
    if (page === null) return false;
    const from = known ?? (await this.#begin(shard, page));
    if (from === null) return this.#fallBehind();
    this.#progress.set(shard, from);
    const completeUntilMs = page.isComplete ? startedAtMs : from.completeUntilMs;
    const move: ShardMove = { shard, from, to: { position: page.through, completeUntilMs } };
    if (!isStanding(move)) {
      const rows = projectFacts(page.batches, await history.known(rowsBefore(page.batches)));
      if (!(await this.#write(rows, move))) return this.#fallBehind();
    }
    this.#progress.set(shard, move.to);
    this.#note(shard, page);
    return !page.isLast;
  }

  /** Null: another process has begun it. */
  async #begin(shard: number, { through }: ShardLogPage): Promise<ShardProgress | null> {
    const position = { streamCreated: through.streamCreated, sequence: 0 };
    return (await this.#options.history.begin(shard, position)) ? { position, completeUntilMs: null } : null;
  }

  /** The quicker projector has written where the shard is. */
  #fallBehind(): false {
    this.#isBehind = true;
    return false;
  }

  /** One row that the database refuses must not stop the others: it is found by halving, told, and left out. */
  async #write(rows: readonly HistoryRow[], move: ShardMove): Promise<boolean> {
    try {
      return await this.#writeAll(rows, move);
    } catch (error) {
      const [row] = rows;
      if (!(error instanceof RefusedRowError) || row === undefined) throw error;
      if (rows.length === 1) {
        this.#options.metrics.leftOut.inc({ reason: 'refused' });
        const { endpointId, job } = row;
        this.#options.logger.error('a job cannot be put into the history', { endpointId, jobId: job.jobId, error });
        return this.#write([], move);
      }
      const half = Math.ceil(rows.length / 2);
      const standing = { ...move, to: move.from };
      return (await this.#write(rows.slice(0, half), standing)) && this.#write(rows.slice(half), move);
    }
  }

  async #writeAll(rows: readonly HistoryRow[], move: ShardMove): Promise<boolean> {
    const { history, metrics } = this.#options;
    const outcome = await history.write(rows, move);
    if (outcome === null) return false;
    metrics.rows.inc(outcome.written);
    metrics.leftOut.inc({ reason: 'placeless' }, outcome.placeless);
    metrics.leftOut.inc({ reason: 'ownerless' }, outcome.ownerless);
    return true;
  }

  /** Tells the findings of a page, once it is behind the place. */
  #note(shard: number, { missed, startsOver, unreadable }: ShardLogPage): void {
    const { logger, metrics } = this.#options;
    if (startsOver === 'new-stream') logger.warn(`the stream of the logs of shard ${shard} was made anew`);
    if (startsOver === 'lost-tail')
      logger.warn(`the stream of the logs of shard ${shard} has lost what was read of it`);
    if (missed > 0) logger.error(`${missed} batches of the logs of shard ${shard} went before they were read`);
    metrics.missed.inc(missed);
    metrics.leftOut.inc({ reason: 'unreadable' }, unreadable.length);
  }

  async #keepPlaces(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#placesCheckedMs < PLACES_CHECKED_MS) return;
    await this.#options.keepPlaces();
    this.#placesCheckedMs = nowMs;
  }

  async #confirm(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#confirmedMs < CONFIRM_INTERVAL_MS) return;
    await this.#options.history.confirm(this.#progress);
    this.#confirmedMs = nowMs;
  }

  /** Only what is written: a place is told when nothing before it can be missed any more. */
  #tellRead(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#toldMs < HISTORY_READ_INTERVAL_MS) return;
    this.#options.tellRead({ shards: [...this.#progress].map(([shard, { position }]) => ({ shard, ...position })) });
    this.#toldMs = nowMs;
  }
}

const isStanding = ({ from: { position: from }, to: { position: to } }: ShardMove): boolean =>
  from.sequence === to.sequence && from.streamCreated === to.streamCreated;
