import { isUnreadable, type EndpointId, type Job } from '@berth/domain';
import { takeTicket, type JobStore, type QueuedTicket } from '@berth/jobs';
import type { Clock } from '@berth/lifecycle';
import type { Doorbell } from './doorbell.port.js';
import { TicketLane } from './ticket-lane.js';
import { TicketRemovals } from './ticket-removals.js';
import { WaitingTakers, type TakeWish, type Taker, type TakingWorker } from './waiting-takers.js';

/** How often the queue is read from its start while someone waits: what a lost doorbell costs at most. */
export const POLL_MS = 2_000;

/** Takes under way at one time. */
const ROUND_MAX = 16;

/** Wishes that wait at one time; agents hold one per asking worker. */
const TAKERS_MAX = 4_096;

/** After a store failure, and for a ticket whose delay has not passed by the record's account. */
const PAUSE_MS = 250;

/** Before a ticket is tried again whose job's record cannot be read. */
const UNREADABLE_PAUSE_MS = 60_000;

export interface DispatcherOptions {
  readonly store: JobStore;
  readonly endpointId: EndpointId;
  readonly doorbell: Doorbell;
  /** Jobs that fit into one answer; a worker with more slots asks again at once. */
  readonly jobsPerReply: number;
  readonly observer: DispatchObserver;
}

/** Told of what a dispatcher does: for metrics and the log. */
export interface DispatchObserver {
  taken(job: Job): void;
  /** A ticket that spoke of nothing that could be taken any more. */
  staleTicket(): void;
  /** Queued again, because nobody was there to hear of it any more. */
  gaveBack(job: Job): void;
  failed(endpointId: EndpointId, error: unknown): void;
}

interface Match {
  readonly lane: TicketLane;
  readonly queued: QueuedTicket;
  readonly taker: Taker;
}

/**
 * Brings the waiting tickets of one endpoint and the waiting workers together: oldest ticket to longest waiting worker,
 * normal jobs before those of low priority. A job is taken only for a worker that waits at that moment, so nothing is
 * held here that could be lost. Any number of routers may do the same: the record decides who took a job.
 */
export class EndpointDispatcher {
  readonly #options: DispatcherOptions;
  readonly #takers: WaitingTakers;
  readonly #removals: TicketRemovals;
  readonly #normal: TicketLane;
  readonly #low: TicketLane;
  readonly #stops: readonly (() => void)[];
  readonly #closed = new AbortController();
  #dueTimer = new AbortController();
  #isWoken = false;
  #isRunning = false;
  #running: Promise<void> = Promise.resolve();
  #lastUsedMs: number;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { store, endpointId, doorbell, observer } = options;
    this.#takers = new WaitingTakers(options.jobsPerReply);
    this.#removals = new TicketRemovals(store.tickets, (error) => {
      observer.failed(endpointId, error);
    });
    this.#normal = this.#newLane(false);
    this.#low = this.#newLane(true);
    this.#lastUsedMs = store.clock.monotonicMs();
    const stopListening = doorbell.listen(endpointId, () => {
      this.#look();
    });
    const stopPolling = store.clock.every(POLL_MS, () => {
      this.#normal.rewind();
      this.#low.rewind();
      this.#wake();
    });
    this.#stops = [stopListening, stopPolling];
  }

  /** Jobs taken for this worker, at least one; none when its wait ended without any. */
  take(wish: TakeWish): Promise<readonly Job[]> {
    if (this.#closed.signal.aborted || this.#takers.size >= TAKERS_MAX) return Promise.resolve([]);
    const { clock } = this.#options.store;
    this.#lastUsedMs = clock.monotonicMs();
    const taker = this.#takers.add(wish);
    void clock.sleep(wish.waitMs, taker.end).then(() => {
      if (!taker.isAnswered) taker.giveUp();
    });
    this.#look();
    return taker.answered;
  }

  /** Answers what this worker waits for; what is being taken for it at this moment it gets all the same. */
  withdraw(worker: TakingWorker): void {
    this.#takers.giveUpOf(worker);
  }

  /** Answers everyone who waits. */
  withdrawAll(): void {
    this.#takers.giveUpAll();
  }

  /** How long nobody has asked and nobody waits, in ms; 0 while someone waits. */
  get idleMs(): number {
    return this.#takers.size > 0 ? 0 : this.#options.store.clock.monotonicMs() - this.#lastUsedMs;
  }

  get waiting(): number {
    return this.#takers.size;
  }

  /** Answers everyone who waits, after what is being taken for them has been given to them. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#closed.abort();
    this.#dueTimer.abort();
    this.withdrawAll();
    await this.#running;
    await this.#removals.settle();
  }

  #newLane(isLowPriority: boolean): TicketLane {
    const { store, endpointId } = this.#options;
    return new TicketLane({
      tickets: store.tickets,
      endpointId,
      isLowPriority,
      isLeaving: (queued) => this.#removals.has(queued),
    });
  }

  /** Someone asks, or a ticket may have come. */
  #look(): void {
    this.#normal.ring();
    this.#low.ring();
    this.#wake();
  }

  #wake(): void {
    this.#isWoken = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const { clock } = this.#options.store;
    while (this.#isWoken && !this.#closed.signal.aborted) {
      this.#isWoken = false;
      this.#dueTimer.abort();
      try {
        while (this.#takers.size > 0 && (await this.#round()));
      } catch (error) {
        this.#options.observer.failed(this.#options.endpointId, error);
        this.#isWoken = true;
        await clock.sleep(PAUSE_MS, this.#closed.signal);
      }
    }
    this.#isRunning = false;
    this.#armDueTimer();
  }

  /** Returns false when no ticket can be taken now. */
  async #round(): Promise<boolean> {
    const nowMs = this.#options.store.clock.nowMs();
    await this.#removals.room();
    await this.#normal.fill(nowMs);
    if (!this.#normal.hasReady) await this.#low.fill(nowMs);
    const lane = this.#normal.hasReady ? this.#normal : this.#low;
    const matches = this.#match(lane);
    for (const { taker } of matches) taker.beginTaking();
    const store = this.#storeAt(this.#options.store.clock.nowMs());
    const taken = await Promise.all(matches.map((match) => this.#takeOne(store, match)));
    for (const taker of new Set(matches.map((match) => match.taker))) {
      taker.endTaking(taken.filter((job, n) => matches[n]?.taker === taker && job !== null) as Job[]);
    }
    return matches.length > 0;
  }

  #match(lane: TicketLane): readonly Match[] {
    const matches: Match[] = [];
    for (const taker of this.#takers.seats(ROUND_MAX)) {
      const queued = lane.next();
      if (queued === null) break;
      matches.push({ lane, queued, taker });
    }
    return matches;
  }

  async #takeOne(store: JobStore, { lane, queued, taker }: Match): Promise<Job | null> {
    const { observer, endpointId } = this.#options;
    try {
      const outcome = await takeTicket(store, queued.ticket, taker.wish);
      if (outcome.kind === 'not-yet') {
        lane.delay(queued, store.clock.nowMs() + PAUSE_MS);
        return null;
      }
      this.#removals.add(queued);
      if (outcome.kind === 'stale') {
        observer.staleTicket();
        return null;
      }
      observer.taken(outcome.job);
      return outcome.job;
    } catch (error) {
      observer.failed(endpointId, error);
      lane.delay(queued, store.clock.nowMs() + (isUnreadable(error) ? UNREADABLE_PAUSE_MS : PAUSE_MS));
      return null;
    }
  }

  /** The takes of one round run side by side but count as one instant, so that jobs never seem to start out of order. */
  #storeAt(nowMs: number): JobStore {
    const { clock, ...ports } = this.#options.store;
    const frozen: Clock = {
      nowMs: () => nowMs,
      monotonicMs: () => clock.monotonicMs(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      every: (ms, tick) => clock.every(ms, tick),
    };
    return { ...ports, clock: frozen };
  }

  /** Wakes when the next ticket that stands aside may be taken. */
  #armDueTimer(): void {
    const dueAtMs = Math.min(...[this.#normal, this.#low].map((lane) => lane.nextDueAtMs ?? Number.POSITIVE_INFINITY));
    if (dueAtMs === Number.POSITIVE_INFINITY || this.#takers.size === 0 || this.#closed.signal.aborted) return;
    const timer = new AbortController();
    this.#dueTimer = timer;
    const { clock } = this.#options.store;
    void clock.sleep(Math.max(1, dueAtMs - clock.nowMs()), timer.signal).then(() => {
      if (!timer.signal.aborted) this.#wake();
    });
  }
}
