import { TAKE_WISHES_MAX, type TakeReply, type TakenJob, type WishAnswer, type WorkerWish } from '@berth/contracts';
import { ATTEMPT_LEASE_MS, type EndpointId, type WorkerId } from '@berth/domain';
import { atEndOfTurn, retry, type Clock, type Random } from '@berth/lifecycle';
import { TransportError } from '@berth/messaging';
import type { JobClientMetrics } from './metrics.js';
import type { RouterLink } from './router-link.port.js';

export interface TakeAsk {
  readonly endpointId: EndpointId;
  readonly workerId: WorkerId;
  /** Jobs that the worker can start now. */
  readonly slots: number;
  readonly waitMs: number;
}

/** A wish's answer, and when the wish was sent: leases count from then. */
export interface AnsweredWish {
  readonly answer: Exclude<WishAnswer, { readonly kind: 'unanswered' }>;
  readonly sentAtMs: number;
}

export interface HostTakesOptions {
  readonly link: RouterLink;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Pick<JobClientMetrics, 'takeFailures'>;
  /** Aborts when nothing is asked any more. */
  readonly signal: AbortSignal;
  /** Told of jobs that came when nobody waited for them any more. */
  readonly onLate: (jobs: readonly TakenJob[], wish: SentWish) => void;
}

/** The data of a wish that are needed when its jobs come. */
export interface SentWish {
  readonly workerId: WorkerId;
  readonly sentAtMs: number;
}

interface Wish extends SentWish {
  readonly takeId: string;
  readonly ask: TakeAsk;
  /** A router that was asked has not answered, and may have given jobs for it. */
  mayBeGiven: boolean;
  /** It is known what it got. */
  isAnswered: boolean;
  readonly resolve: (answered: AnsweredWish) => void;
  readonly reject: (error: unknown) => void;
}

/** A wish that is asked once. */
interface AskedOnce {
  readonly wish: Wish;
  readonly over: PromiseWithResolvers<void>;
}

/** The wishes that a router holds for one host. */
const WISHES_MAX = 4_096;
/** How long an answer may be late. */
const SLACK_MS = 4_000;
/** Wishes that were given up and may still be answered. */
const GIVEN_UP_MAX = 1_024;
/** More than there is time for until a lease ends. */
const ASKED_MAX = 60;
const AGAIN_MIN_MS = 50;
const AGAIN_MAX_MS = 1_000;
const PREFIX_LENGTH = 12;

/**
 * Asks for the jobs of all workers of this host: what they wish in one turn of the event loop goes in one message, and what
 * they wish later in another, which waits behind none.
 *
 * A router that has not answered may have been given jobs for the wish. So another one is asked under the same name,
 * which brings the same jobs, until it is known what the wish got, or a lease would be over (ADR 0050).
 */
export class HostTakes {
  readonly #options: HostTakesOptions;
  readonly #prefix: string;
  /** For which somebody waits, by take id. */
  readonly #open = new Map<string, Wish>();
  readonly #givenUp = new Map<string, SentWish>();
  readonly #gathered: AskedOnce[] = [];
  #count = 0;

  constructor(options: HostTakesOptions) {
    this.#options = options;
    this.#prefix = options.random.id(PREFIX_LENGTH);
  }

  /** Wishes that have no answer yet. */
  get waiting(): number {
    return this.#open.size;
  }

  /** @throws when no router answered, or nobody who keeps the endpoint's jobs */
  async ask(ask: TakeAsk): Promise<AnsweredWish> {
    try {
      if (this.#open.size >= WISHES_MAX) throw new Error('as many wishes wait as a router holds for one host');
      return await this.#askFor(ask);
    } catch (error) {
      this.#options.metrics.takeFailures.inc();
      throw error;
    }
  }

  #askFor(ask: TakeAsk): Promise<AnsweredWish> {
    this.#count += 1;
    const takeId = `${this.#prefix}-${this.#count.toString(36)}`;
    return new Promise((resolve, reject) => {
      const sentAtMs = this.#options.clock.monotonicMs();
      const { workerId } = ask;
      const wish = { takeId, ask, workerId, sentAtMs, mayBeGiven: false, isAnswered: false, resolve, reject };
      this.#open.set(takeId, wish);
      void this.#askUntilKnown(wish);
    });
  }

  async #askUntilKnown(wish: Wish): Promise<void> {
    const { clock, random, signal } = this.#options;
    try {
      await retry(() => this.#askOnce(wish), {
        ...{ clock, random, signal, attemptsMax: ASKED_MAX, baseDelayMs: AGAIN_MIN_MS, maxDelayMs: AGAIN_MAX_MS },
        isRetriable: (error) => this.#isAskedAgain(wish, error),
      });
    } catch (error) {
      this.#giveUp(wish, error);
    }
  }

  #isAskedAgain(wish: Wish, error: unknown): boolean {
    wish.mayBeGiven ||= isUnsettled(error);
    const agoMs = this.#options.clock.monotonicMs() - wish.sentAtMs;
    // Its worker waits no longer; what it got is given back.
    if (agoMs >= wish.ask.waitMs + SLACK_MS) this.#giveUp(wish, error);
    return wish.mayBeGiven && !wish.isAnswered && agoMs < ATTEMPT_LEASE_MS;
  }

  #askOnce(wish: Wish): Promise<void> {
    if (wish.isAnswered) return Promise.resolve();
    const over = Promise.withResolvers<void>();
    if (this.#gathered.length === 0) atEndOfTurn(() => this.#send());
    this.#gathered.push({ wish, over });
    return over.promise;
  }

  #send(): void {
    while (this.#gathered.length > 0) void this.#sendPage(this.#gathered.splice(0, TAKE_WISHES_MAX));
  }

  /** Never rejects: each wish is told by itself. */
  async #sendPage(page: readonly AskedOnce[]): Promise<void> {
    const wishes = page.map(({ wish }) => this.#wordsOf(wish));
    const left = new Map(page.map((asked) => [asked.wish.takeId, asked.over]));
    const onPart = ({ answers }: TakeReply): boolean => {
      for (const answer of answers) {
        const over = left.get(answer.takeId);
        left.delete(answer.takeId);
        if (answer.kind === 'unanswered') over?.reject(NOBODY_ANSWERED);
        else this.#settle(answer);
        over?.resolve();
      }
      return left.size === 0;
    };
    const timeoutMs = Math.max(...wishes.map(({ waitMs }) => waitMs)) + SLACK_MS;
    const onLate = (reply: TakeReply): void => this.#hearLate(reply);
    try {
      await this.#options.link.askParts('take', { wishes }, { timeoutMs, onPart, onLate });
    } catch (error) {
      for (const over of left.values()) over.reject(error);
    }
  }

  /** Asked again it waits for what is left of its time. */
  #wordsOf({ ask, mayBeGiven, sentAtMs, takeId }: Wish): WorkerWish {
    if (!mayBeGiven) return { takeId, ...ask };
    const leftMs = ask.waitMs - (this.#options.clock.monotonicMs() - sentAtMs);
    return { takeId, ...ask, waitMs: Math.max(0, Math.floor(leftMs)) };
  }

  #settle(answer: AnsweredWish['answer']): void {
    const wish = this.#open.get(answer.takeId);
    if (wish === undefined) {
      if (answer.kind === 'jobs') this.#returnLate(answer);
      return;
    }
    this.#open.delete(answer.takeId);
    // The router that was asked before may still say something else.
    if (wish.mayBeGiven) this.#remember(wish);
    wish.isAnswered = true;
    wish.resolve({ answer, sentAtMs: wish.sentAtMs });
  }

  #giveUp(wish: Wish, error: unknown): void {
    if (!this.#open.delete(wish.takeId)) return;
    this.#remember(wish);
    wish.reject(error);
  }

  /** The map keeps the order of insertion, so the oldest stands first. */
  #remember({ sentAtMs, takeId, workerId }: Wish): void {
    const [oldest] = this.#givenUp.keys();
    if (this.#givenUp.size >= GIVEN_UP_MAX && oldest !== undefined) this.#givenUp.delete(oldest);
    this.#givenUp.set(takeId, { workerId, sentAtMs });
  }

  /** Of an earlier question: jobs are what its wish is given, wherever it is asked now, and "none" may be so only there. */
  #hearLate({ answers }: TakeReply): void {
    for (const answer of answers) if (answer.kind === 'jobs') this.#settle(answer);
  }

  #returnLate({ jobs, takeId }: Extract<WishAnswer, { readonly kind: 'jobs' }>): void {
    const wish = this.#givenUp.get(takeId);
    this.#givenUp.delete(takeId);
    if (wish !== undefined) this.#options.onLate(jobs, wish);
  }
}

const NOBODY_ANSWERED = new TransportError('unanswered', 'Nobody who keeps the jobs of the endpoint has answered.', {
  isRetriable: true,
});

/** It may have been heard. */
const isUnsettled = (error: unknown): boolean =>
  error instanceof TransportError && (error.failure === 'unanswered' || error.failure === 'timeout');
