import { TAKE_WISHES_MAX, type TakeReply, type TakenJob, type WishAnswer } from '@berth/contracts';
import type { EndpointId, WorkerId } from '@berth/domain';
import { atEndOfTurn, type Clock, type Random } from '@berth/lifecycle';
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

/** What a router holds for one host. */
const WISHES_MAX = 4_096;
/** How long an answer may be late. */
const SLACK_MS = 4_000;
/** Wishes that were given up and may still be answered. */
const GIVEN_UP_MAX = 1_024;
const PREFIX_LENGTH = 12;

/**
 * Asks for the jobs of all workers of this host: what they wish in one turn of the event loop goes in one message, and what
 * they wish later in another, which waits behind none.
 */
export class HostTakes {
  readonly #options: HostTakesOptions;
  readonly #prefix: string;
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

  /** Never rejects. */
  async #sendPage(wishes: readonly Wish[]): Promise<void> {
    const { clock, link } = this.#options;
    const sentAtMs = clock.monotonicMs();
    const open = new Map(wishes.map((wish) => [wish.takeId, wish]));
    const onPart = ({ answers }: TakeReply): boolean => {
      for (const answer of answers) {
        open.get(answer.takeId)?.resolve({ answer, sentAtMs });
        open.delete(answer.takeId);
      }
      return open.size === 0;
    };
    const onLate = (reply: TakeReply): void => this.#hearLate(reply);
    const timeoutMs = Math.max(...wishes.map(({ ask }) => ask.waitMs)) + SLACK_MS;
    const request = { wishes: wishes.map(({ ask, takeId }) => ({ takeId, ...ask })) };
    try {
      await link.askParts('take', request, { timeoutMs, onPart, onLate });
    } catch (error) {
      for (const { ask, reject, takeId } of open.values()) {
        this.#giveUp(takeId, { workerId: ask.workerId, sentAtMs });
        reject(error);
      }
    }
  }

  /** The map keeps the order of insertion, so the oldest stands first. */
  #giveUp(takeId: string, wish: SentWish): void {
    const [oldest] = this.#givenUp.keys();
    if (this.#givenUp.size >= GIVEN_UP_MAX && oldest !== undefined) this.#givenUp.delete(oldest);
    this.#givenUp.set(takeId, wish);
  }

  #hearLate({ answers }: TakeReply): void {
    for (const answer of answers) {
      const wish = this.#givenUp.get(answer.takeId);
      this.#givenUp.delete(answer.takeId);
      if (wish !== undefined && answer.kind === 'jobs') this.#options.onLate(answer.jobs, wish);
    }
  }
}
