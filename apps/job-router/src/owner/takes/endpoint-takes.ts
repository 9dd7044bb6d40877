import type { QuestionOf } from '@berth/contracts';
import type { EndpointId, TakeWish } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { HeldTake, type TakeAnswer, type TakePhase } from './held-take.js';
import type { GivenJobs, JobGiving } from './waiting-takes.port.js';
import type { LastAskers } from './last-askers.js';

export interface EndpointTakesOptions {
  readonly endpointId: EndpointId;
  readonly giving: JobGiving;
  readonly askers: LastAskers;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Calls `run` when this turn of the event loop is over. */
  readonly atEndOfTurn: (run: () => void) => void;
  /** Nothing is held here any more. */
  readonly onEmpty: () => void;
}

/** Wishes that wait at one time; agents hold one per asking worker. */
export const WISHES_MAX = 4_096;

/** How many of the longest waits are asked about where nothing says that more of them can have got a job. */
const PAGE_MIN = 16;
const PAGE_GROWTH = 4;

const NONE: GivenJobs = { jobs: [] };

/** A take about which the owner is asked in one command. */
interface OfferedTake {
  readonly take: HeldTake;
  /** As they were when it was asked about. */
  readonly phase: TakePhase;
  readonly openings: number;
}

/**
 * The wishes that wait for jobs of one endpoint. The owner is asked what they get: all that came in one turn of the event
 * loop together with the longest waits. Jobs go to the longest wait first, so those of which the last has got none need
 * not be followed by the others.
 *
 * "None" is said of a wish only when it was asked about after the last moment at which it could be given anything.
 */
export class EndpointTakes {
  readonly #options: EndpointTakesOptions;
  /** By take id, the longest wait first. */
  readonly #takes = new Map<string, HeldTake>();
  readonly #wishes: TakeWish[] = [];
  /** The takes about which the owner is asked in any case. */
  readonly #due = new Set<HeldTake>();
  /** Grows with everything by which a wish may have got a job, or may get one. */
  #news = 0;
  #page = PAGE_MIN;
  #isScheduled = false;

  constructor(options: EndpointTakesOptions) {
    this.#options = options;
  }

  /** Wishes that may be given jobs. */
  get waiting(): number {
    return this.#wishes.length;
  }

  /**
   * Resolves with jobs, with none when its time is over, or with `silent`.
   *
   * @param question with no more slots than an answer has room for
   */
  take({ waitMs, wish }: QuestionOf<'take'>): Promise<TakeAnswer> {
    const known = this.#takes.get(wish.takeId);
    if (known === undefined && this.#takes.size >= WISHES_MAX) return Promise.resolve('silent');
    const take = known ?? new HeldTake(wish);
    const { askers, clock } = this.#options;
    askers.forget(wish);
    const answer = take.wait(wish, waitMs, { clock, onOver: () => this.#end(take, 'ending') });
    // The jobs that are being read will be its answer.
    if (take.phase === 'given') return answer;
    if (take.phase !== 'open') this.#open(take);
    this.#askAbout(take);
    return answer;
  }

  withdraw({ hostId, workerId }: QuestionOf<'withdraw'>): void {
    for (const take of this.#takes.values()) {
      if (take.wish.hostId === hostId && take.wish.workerId === workerId) this.#end(take, 'withdrawn');
    }
  }

  /** Something has happened that may let a job be taken. */
  wake(): void {
    this.#news += 1;
    this.#lookAgain();
  }

  /**
   * The caller is about to offer them a job, which would be theirs with the very next commit: so they are asked about
   * in this turn, and hear of it with that commit.
   *
   * The returned list changes with the takes that wait: a later offer must not go to one that was told "none"
   * meanwhile.
   */
  offer(): readonly TakeWish[] {
    if (this.#wishes.length > 0) this.#page += 1;
    this.wake();
    return this.#wishes;
  }

  /** Asks about all of them. */
  lookAtAll(): void {
    this.#page = WISHES_MAX;
    this.wake();
  }

  /** Lets everybody go without a word: who asks again finds the owner. */
  silence(): void {
    for (const take of [...this.#takes.values()]) {
      if (take.phase === 'given') take.answer('silent');
      else this.#answer(take, 'silent');
    }
  }

  #open(take: HeldTake): void {
    const { wish } = take;
    take.phase = 'open';
    take.openings += 1;
    // One that was ending and is asked for once more waits anew, behind the others.
    this.#takes.delete(wish.takeId);
    this.#takes.set(wish.takeId, take);
    this.#wishes.push(wish);
  }

  /** From now on it is offered no more, so that what it has is all that it gets. */
  #end(take: HeldTake, phase: 'ending' | 'withdrawn'): void {
    if (take.phase !== 'open') return;
    this.#close(take, phase);
    this.#askAbout(take);
  }

  #close(take: HeldTake, phase: Exclude<TakePhase, 'open'>): void {
    if (take.phase === 'open') this.#wishes.splice(this.#wishes.indexOf(take.wish), 1);
    take.phase = phase;
  }

  #askAbout(take: HeldTake): void {
    this.#due.add(take);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.atEndOfTurn(() => {
      this.#isScheduled = false;
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    const page = this.#page;
    this.#page = PAGE_MIN;
    const asked = this.#choose(page);
    if (asked.length === 0) return;
    const news = this.#news;
    const answered = await this.#give(asked);
    for (const [index, each] of asked.entries()) {
      each.take.isUnderWay = false;
      if (answered === 'silent') this.#answer(each.take, 'silent');
      else this.#settle(each, answered[index] ?? NONE);
    }
    const last = asked[Math.min(page, asked.length) - 1];
    if (last?.take.phase === 'given') this.#lookFurther(page);
    if (news !== this.#news) this.#lookAgain();
    if (asked.some(({ take }) => this.#due.has(take))) this.#schedule();
  }

  #lookAgain(): void {
    if (this.#wishes.length > 0) this.#schedule();
  }

  /** All of a page have got jobs, so those behind it may have, too. */
  #lookFurther(page: number): void {
    this.#page = Math.min(WISHES_MAX, page * PAGE_GROWTH);
    this.#lookAgain();
  }

  /**
   * The longest waits, as many as a page has, and behind them whatever is due. A take that is being asked about has its
   * time.
   */
  #choose(page: number): readonly OfferedTake[] {
    const isFree = ({ isUnderWay, phase }: HeldTake): boolean => !isUnderWay && phase !== 'given';
    const chosen = new Set<HeldTake>();
    for (const take of this.#takes.values()) {
      if (chosen.size >= page) break;
      if (isFree(take)) chosen.add(take);
    }
    for (const take of this.#due) if (isFree(take)) chosen.add(take);
    return [...chosen].map((take) => {
      this.#due.delete(take);
      take.isUnderWay = true;
      const { openings, phase } = take;
      return { take, openings, phase };
    });
  }

  async #give(asked: readonly OfferedTake[]): Promise<readonly GivenJobs[] | 'silent'> {
    const { endpointId, giving, logger } = this.#options;
    const wishes = asked.map(({ phase, take: { wish } }) => (phase === 'withdrawn' ? { ...wish, slots: 0 } : wish));
    try {
      return await giving.give(endpointId, wishes);
    } catch (error) {
      logger.error('takes could not be answered', { endpointId, error });
      return 'silent';
    }
  }

  #settle({ openings, phase, take }: OfferedTake, given: GivenJobs): void {
    const isFinal = phase !== 'open' && openings === take.openings;
    if (take.phase === 'over') this.#forget(take);
    else if (given.jobs.length > 0) void this.#hand(take, given);
    else if (isFinal) this.#answer(take, []);
    // It may have been given something between being asked about and its end.
    else if (take.phase !== 'open') this.#due.add(take);
  }

  async #hand(take: HeldTake, given: GivenJobs): Promise<void> {
    const { askers, endpointId, giving, logger } = this.#options;
    this.#close(take, 'given');
    try {
      const assigned = await giving.assign(endpointId, given);
      if (assigned !== 'silent') askers.note(take.asker);
      this.#answer(take, assigned);
    } catch (error) {
      logger.warn('jobs that were taken could not be read; their takes are to be asked again', { endpointId, error });
      this.#answer(take, 'silent');
    }
  }

  #answer(take: HeldTake, answer: TakeAnswer): void {
    take.answer(answer);
    this.#close(take, 'over');
    if (!take.isUnderWay) this.#forget(take);
  }

  #forget(take: HeldTake): void {
    this.#due.delete(take);
    this.#takes.delete(take.wish.takeId);
    if (this.#takes.size === 0) this.#options.onEmpty();
  }
}
