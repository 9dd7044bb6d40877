import type { HostId, Job, WorkerId } from '@berth/domain';

/** One worker's wish for jobs. */
export interface TakeWish {
  readonly hostId: HostId;
  readonly workerId: WorkerId;
  /** Jobs that it can start now. */
  readonly slots: number;
  readonly waitMs: number;
}

/** A worker as the routers know it: its id counts on its own host only. */
export type TakingWorker = Pick<TakeWish, 'hostId' | 'workerId'>;

/** A wish that waits, until it is answered exactly once. */
export class Taker {
  readonly wish: TakeWish;
  /** Jobs that it can be given in its one answer. */
  readonly seats: number;
  readonly answered: Promise<readonly Job[]>;
  readonly #answer: (jobs: readonly Job[]) => void;
  readonly #end = new AbortController();
  #isTaking = false;
  #isWaitOver = false;

  constructor(wish: TakeWish, jobsPerReply: number) {
    this.wish = wish;
    this.seats = Math.min(wish.slots, jobsPerReply);
    const { promise, resolve } = Promise.withResolvers<readonly Job[]>();
    this.answered = promise;
    this.#answer = resolve;
  }

  /** Aborts once the wish is answered. */
  get end(): AbortSignal {
    return this.#end.signal;
  }

  get isAnswered(): boolean {
    return this.#end.signal.aborted;
  }

  /** While jobs are being taken for it, the end of its wait does not answer it. */
  beginTaking(): void {
    this.#isTaking = true;
  }

  /** Answers with the jobs that were taken; without any it waits on, unless its wait ended meanwhile. */
  endTaking(jobs: readonly Job[]): void {
    this.#isTaking = false;
    if (jobs.length > 0 || this.#isWaitOver) this.#reply(jobs);
  }

  /** The wait is over: nothing came. */
  giveUp(): void {
    this.#isWaitOver = true;
    if (!this.#isTaking) this.#reply([]);
  }

  #reply(jobs: readonly Job[]): void {
    this.#end.abort();
    this.#answer(jobs);
  }
}

/** Those who wait for a job of one endpoint, in order of arrival. */
export class WaitingTakers {
  readonly #jobsPerReply: number;
  #takers: Taker[] = [];

  constructor(jobsPerReply: number) {
    this.#jobsPerReply = jobsPerReply;
  }

  get size(): number {
    return this.#takers.length;
  }

  add(wish: TakeWish): Taker {
    const taker = new Taker(wish, this.#jobsPerReply);
    this.#takers.push(taker);
    taker.end.addEventListener('abort', () => {
      this.#takers = this.#takers.filter((each) => each !== taker);
    });
    return taker;
  }

  /** One entry per job that can be handed out now, first come first served, at most `limit`. */
  seats(limit: number): readonly Taker[] {
    const seats: Taker[] = [];
    for (const taker of this.#takers) {
      for (let seat = 0; seat < taker.seats && seats.length < limit; seat += 1) seats.push(taker);
      if (seats.length === limit) break;
    }
    return seats;
  }

  giveUpOf({ hostId, workerId }: TakingWorker): void {
    for (const taker of this.#takers) {
      if (taker.wish.hostId === hostId && taker.wish.workerId === workerId) taker.giveUp();
    }
  }

  giveUpAll(): void {
    for (const taker of [...this.#takers]) taker.giveUp();
  }
}
