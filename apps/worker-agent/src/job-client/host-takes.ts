import { TAKE_WISHES_MAX, type TakeReply, type TakenJob, type WishAnswer } from '@berth/contracts';
import type { EndpointId, WorkerId } from '@berth/domain';
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
  /** Told of jobs that came when nobody waited for them any more. */
  readonly onLate: (jobs: readonly TakenJob[], wish: SentWish) => void;
}

/** What is to be known of a wish when its jobs come. */
export interface SentWish {
  readonly workerId: WorkerId;
  readonly sentAtMs: number;
}

interface Wish {
  readonly takeId: string;
  readonly ask: TakeAsk;
  readonly resolve: (answered: { readonly answer: WishAnswer; readonly sentAtMs: number }) => void;
  readonly reject: (error: unknown) => void;
}

interface OpenWish extends Wish {
  readonly sentAtMs: number;
}

/** What a router holds for one host. */
const WISHES_MAX = 4_096;
/** How long an answer may be late. */
const SLACK_MS = 4_000;
/** Wishes that were given up and may still be answered. */
const GIVEN_UP_MAX = 1_024;
const ASKED_MAX = 6;
/** Begun no later than this, asking a wish again ends before its jobs are too late to be started. */
const AGAIN_WITHIN_MS = 10_000;
const AGAIN_MIN_MS = 50;
const AGAIN_MAX_MS = 1_000;
const PREFIX_LENGTH = 12;

/**
 * Asks for the jobs of all workers of this host: what they wish in one turn of the event loop goes in one message, and what
 * they wish later in another, which waits behind none.
 */
export class HostTakes {
  readonly #options: HostTakesOptions;
  readonly #prefix: string;
  /** By take id. */
  readonly #open = new Map<string, OpenWish>();
  readonly #givenUp = new Map<string, SentWish>();
  readonly #gathered: Wish[] = [];
  #waiting = 0;
  #count = 0;

  constructor(options: HostTakesOptions) {
    this.#options = options;
    this.#prefix = options.random.id(PREFIX_LENGTH);
  }

  /** Wishes that have no answer yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** @throws when no router answered, or nobody who keeps the endpoint's jobs */
  async ask(ask: TakeAsk): Promise<AnsweredWish> {
    this.#waiting += 1;
    try {
      if (this.#waiting > WISHES_MAX) throw new Error('as many wishes wait as a router holds for one host');
      const { answer, sentAtMs } = await this.#gather(ask);
      if (answer.kind === 'unanswered') throw new Error('nobody who keeps the jobs of the endpoint has answered');
      return { answer, sentAtMs };
    } catch (error) {
      this.#options.metrics.takeFailures.inc();
      throw error;
    } finally {
      this.#waiting -= 1;
    }
  }

  #gather(ask: TakeAsk): Promise<{ readonly answer: WishAnswer; readonly sentAtMs: number }> {
    this.#count += 1;
    const takeId = `${this.#prefix}-${this.#count.toString(36)}`;
    return new Promise((resolve, reject) => {
      if (this.#gathered.length === 0) atEndOfTurn(() => this.#send());
      this.#gathered.push({ takeId, ask, resolve, reject });
    });
  }

  #send(): void {
    while (this.#gathered.length > 0) void this.#sendPage(this.#gathered.splice(0, TAKE_WISHES_MAX));
  }

  /**
   * Never rejects. Whoever was asked and has not answered may have been given jobs, so the next one is asked under the same
   * names: it gives the same jobs.
   */
  async #sendPage(wishes: readonly Wish[]): Promise<void> {
    const { clock, random } = this.#options;
    const sentAtMs = clock.monotonicMs();
    for (const wish of wishes) this.#open.set(wish.takeId, { ...wish, sentAtMs });
    const left = (): readonly OpenWish[] => wishes.flatMap(({ takeId }) => this.#open.get(takeId) ?? []);
    let mayBeGiven = false;
    try {
      await retry(() => this.#askOnce(left(), { isFirst: !mayBeGiven }), {
        ...{ clock, random, attemptsMax: ASKED_MAX, baseDelayMs: AGAIN_MIN_MS, maxDelayMs: AGAIN_MAX_MS },
        isRetriable: (error) => {
          mayBeGiven ||= isUnsettled(error);
          return mayBeGiven && left().length > 0 && clock.monotonicMs() - sentAtMs < AGAIN_WITHIN_MS;
        },
      });
    } catch (error) {
      for (const { reject, takeId } of left()) {
        this.#giveUp(takeId);
        reject(error);
      }
    }
  }

  async #askOnce(wishes: readonly OpenWish[], { isFirst }: { readonly isFirst: boolean }): Promise<void> {
    const { clock, link } = this.#options;
    const listed = wishes.map(({ ask, sentAtMs, takeId }) => {
      const waitMs = isFirst ? ask.waitMs : Math.max(0, Math.floor(ask.waitMs - (clock.monotonicMs() - sentAtMs)));
      return { takeId, ...ask, waitMs };
    });
    const onPart = ({ answers }: TakeReply): boolean => {
      for (const answer of answers) this.#settle(answer, !isFirst);
      return wishes.every(({ takeId }) => !this.#open.has(takeId));
    };
    const timeoutMs = Math.max(...listed.map(({ waitMs }) => waitMs)) + SLACK_MS;
    const onLate = (reply: TakeReply): void => this.#hearLate(reply);
    await link.askParts('take', { wishes: listed }, { timeoutMs, onPart, onLate });
  }

  /** @param isAskedAgain whoever was asked before may still say something else */
  #settle(answer: WishAnswer, isAskedAgain: boolean): void {
    const wish = this.#open.get(answer.takeId);
    if (wish === undefined) return;
    if (isAskedAgain) this.#giveUp(answer.takeId);
    else this.#open.delete(answer.takeId);
    wish.resolve({ answer, sentAtMs: wish.sentAtMs });
  }

  /** The map keeps the order of insertion, so the oldest stands first. */
  #giveUp(takeId: string): void {
    const wish = this.#open.get(takeId);
    if (wish === undefined) return;
    const [oldest] = this.#givenUp.keys();
    if (this.#givenUp.size >= GIVEN_UP_MAX && oldest !== undefined) this.#givenUp.delete(oldest);
    this.#givenUp.set(takeId, { workerId: wish.ask.workerId, sentAtMs: wish.sentAtMs });
    this.#open.delete(takeId);
  }

  /** Of an earlier question: jobs are what its wish is given, wherever it is asked now, and "none" may be so only there. */
  #hearLate({ answers }: TakeReply): void {
    for (const answer of answers) {
      if (answer.kind !== 'jobs') continue;
      if (this.#open.has(answer.takeId)) this.#settle(answer, true);
      else this.#returnLate(answer);
    }
  }

  #returnLate({ jobs, takeId }: Extract<WishAnswer, { readonly kind: 'jobs' }>): void {
    const wish = this.#givenUp.get(takeId);
    this.#givenUp.delete(takeId);
    if (wish !== undefined) this.#options.onLate(jobs, wish);
  }
}

/** It may have been heard. */
const isUnsettled = (error: unknown): boolean =>
  error instanceof TransportError && (error.failure === 'unanswered' || error.failure === 'timeout');
