import { TAKE_JOBS_MAX, type QuestionOf, type TakeAsker } from '@berth/contracts';
import type { EndpointId, TakeWish } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { EndpointTakes } from './endpoint-takes.js';
import type { TakeAnswer } from './held-take.js';
import type { JobGiving, WaitingTakes } from './waiting-takes.port.js';
import { LastAskers } from './last-askers.js';

export interface HeldTakesOptions {
  readonly giving: JobGiving;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Calls `run` when this turn of the event loop is over: the same as for the logs. */
  readonly atEndOfTurn: (run: () => void) => void;
  /** Jobs that fit into one answer whatever they hold (`jobsPerAnswer`). */
  readonly jobsPerAnswer: number;
}

/** The time that a wake that did not come costs at most. */
const LOOK_MS = 2_000;

const NOBODY: readonly TakeWish[] = [];

/**
 * Holds what workers wish until there are jobs for them. Nothing that could be lost is held here: what a wish was given
 * stands in the endpoint's log under its take id, and a host that asks by it again gets it again.
 */
export class HeldTakes implements WaitingTakes {
  readonly #options: HeldTakesOptions;
  readonly #endpoints = new Map<EndpointId, EndpointTakes>();
  readonly #askers = new LastAskers();
  #stopLooking: (() => void) | undefined;
  #isStopped = false;

  constructor(options: HeldTakesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stopLooking ??= this.#options.clock.every(LOOK_MS, () => {
      for (const takes of this.#endpoints.values()) takes.lookAtAll();
    });
  }

  /** Lets all of them go, and each that comes afterwards at once. */
  stop(): void {
    this.#isStopped = true;
    this.#stopLooking?.();
    this.silence(() => true);
  }

  /** Wishes that may be given jobs. */
  get waiting(): number {
    let waiting = 0;
    for (const takes of this.#endpoints.values()) waiting += takes.waiting;
    return waiting;
  }

  /** Endpoints for which somebody waits. */
  get active(): number {
    return this.#endpoints.size;
  }

  take(endpointId: EndpointId, { waitMs, wish }: QuestionOf<'take'>): Promise<TakeAnswer> {
    if (this.#isStopped) return Promise.resolve('silent');
    const slots = Math.min(wish.slots, TAKE_JOBS_MAX, this.#options.jobsPerAnswer);
    return this.#takesOf(endpointId).take({ waitMs, wish: { ...wish, slots } });
  }

  isLastAsker(asker: TakeAsker): boolean {
    return this.#askers.isLast(asker);
  }

  withdraw(endpointId: EndpointId, worker: QuestionOf<'withdraw'>): void {
    this.#endpoints.get(endpointId)?.withdraw(worker);
  }

  wake(endpointId: EndpointId): void {
    this.#endpoints.get(endpointId)?.wake();
  }

  /** To be asked in the turn in which a job is submitted, and passed on as it is: see `EndpointTakes.offer`. */
  waitingWishes(endpointId: EndpointId): readonly TakeWish[] {
    return this.#endpoints.get(endpointId)?.offer() ?? NOBODY;
  }

  /** Lets everybody go who waits at these endpoints: another router owns them. */
  silence(isLost: (endpointId: EndpointId) => boolean): void {
    for (const [endpointId, takes] of [...this.#endpoints]) if (isLost(endpointId)) takes.silence();
  }

  #takesOf(endpointId: EndpointId): EndpointTakes {
    const known = this.#endpoints.get(endpointId);
    if (known !== undefined) return known;
    const takes = new EndpointTakes({
      ...this.#options,
      endpointId,
      askers: this.#askers,
      onEmpty: () => this.#endpoints.delete(endpointId),
    });
    this.#endpoints.set(endpointId, takes);
    return takes;
  }
}
