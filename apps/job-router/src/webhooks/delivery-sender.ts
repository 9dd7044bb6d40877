import type { AccountId, DeliveryKey, DueDelivery, EndpointId } from '@berth/domain';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import { runWithLogContext, type Logger } from '@berth/telemetry';
import { isUnavailable } from '../owners/index.js';
import type { WebhookMetrics } from './metrics.js';
import {
  SEND_LIMITS,
  candidateName,
  chooseTries,
  waitsForOthers,
  type Candidate,
  type SendLimits,
} from './choose-tries.js';
import type { DeliveryPoster, TryOutcome } from './delivery-poster.js';
import type { OwnedDeliveries } from './owned-deliveries.port.js';

export interface DeliverySenderOptions {
  readonly deliveries: Pick<OwnedDeliveries, 'due'>;
  readonly attempt: Pick<DeliveryPoster, 'run'>;
  /** Whose the endpoint is; null where its snapshot is not known. */
  readonly accountOf: (endpointId: EndpointId) => AccountId | null;
  readonly clock: Clock;
  readonly metrics: WebhookMetrics;
  readonly logger: Logger;
  readonly limits?: SendLimits;
}

const INTERVAL_MS = 500;
/** Endpoints that are looked at in one round; those behind them have their turn in the next. */
const ENDPOINTS_PER_ROUND = 64;
/** Endpoints that wait for their turn. One that finds no place is told of again by its owner. */
const ENDPOINTS_MAX = 20_000;
/** Where the first of an endpoint's due deliveries cannot be begun, more of them are looked at. */
const LOOKS: readonly number[] = [32, 2_048];
/** A delivery that could not be tried for a reason of ours is not looked at before this. */
const POSTPONED_MS = 3_000;
const POSTPONED_MAX = 20_000;

/** Tells receivers what is due. Level-triggered: the owner says which endpoints have deliveries that wait. */
export class DeliverySender {
  readonly #options: DeliverySenderOptions;
  readonly #limits: SendLimits;
  readonly #loop: ControlLoop;
  /** In the order of their turns. */
  readonly #endpoints = new Set<EndpointId>();
  readonly #underWay = new Map<string, Candidate>();
  readonly #ends = new Set<Promise<void>>();
  /** Until when a delivery is left alone, by name; monotonic. */
  readonly #postponed = new Map<string, number>();

  constructor(options: DeliverySenderOptions) {
    this.#options = options;
    this.#limits = options.limits ?? SEND_LIMITS;
    this.#loop = new ControlLoop({
      name: 'webhook.sender',
      intervalMs: INTERVAL_MS,
      clock: options.clock,
      run: () => this.sendDue(),
      onError: (name, error) => {
        options.logger.error(`control loop ${name} failed; it runs again`, { error });
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Begins nothing more, and resolves when what is under way has ended: a request takes 10 s at most. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.settled();
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#ends.size > 0) await Promise.all(this.#ends);
  }

  /** The endpoint has deliveries that may be tried. */
  isDue(endpointId: EndpointId): void {
    if (this.#endpoints.size >= ENDPOINTS_MAX) return;
    this.#endpoints.add(endpointId);
    this.#loop.hurry();
  }

  /** Begins what is due and may be begun. An endpoint that finds others' places taken keeps its turn for the next one. */
  async sendDue(): Promise<void> {
    this.#forgetPostponed();
    const turn = [...this.#endpoints].slice(0, ENDPOINTS_PER_ROUND);
    for (const endpointId of turn) {
      if (this.#underWay.size >= this.#limits.total) return;
      this.#endpoints.delete(endpointId);
      const keepsTurn = await this.#sendOf(endpointId);
      if (keepsTurn) this.#endpoints.add(endpointId);
    }
  }

  /** @returns whether it waits for a place that is others' */
  async #sendOf(endpointId: EndpointId): Promise<boolean> {
    const { accountOf, deliveries } = this.#options;
    const accountId = accountOf(endpointId);
    if (accountId === null) return false;
    let free: readonly Candidate[] = [];
    for (const limit of LOOKS) {
      const due = await deliveries.due(endpointId, limit);
      const candidates = due.map((each) => candidateOf(each, endpointId, accountId));
      free = candidates.filter((each) => !this.#postponed.has(candidateName(each)));
      const chosen = chooseTries(free, this.#underWay, this.#limits);
      for (const candidate of chosen) this.#begin(candidate);
      if (chosen.length > 0) return false;
      if (due.length < limit) break;
    }
    return waitsForOthers(free, this.#underWay, this.#limits);
  }

  #begin(candidate: Candidate): void {
    const name = candidateName(candidate);
    this.#underWay.set(name, candidate);
    const end = runWithLogContext({}, () => this.#send(name, candidate)).finally(() => {
      this.#underWay.delete(name);
      this.#ends.delete(end);
      this.isDue(candidate.endpointId);
    });
    this.#ends.add(end);
  }

  async #send(name: string, key: Candidate): Promise<void> {
    try {
      this.#note(name, key, await this.#options.attempt.run(key));
    } catch (error) {
      this.#postpone(name, isUnavailable(error) ? 'store-unavailable' : 'fault');
      if (!isUnavailable(error)) this.#options.logger.error('a delivery could not be tried', { ...idsOf(key), error });
    }
  }

  #note(name: string, key: DeliveryKey, outcome: TryOutcome): void {
    const { logger, metrics } = this.#options;
    switch (outcome.kind) {
      case 'tried':
        metrics.tries.inc({ outcome: outcome.receipt.kind });
        logger.debug('told a receiver', { ...idsOf(key), outcome: outcome.receipt.kind });
        return;
      case 'gone':
        return;
      case 'no-secret':
      case 'not-begun':
        this.#postpone(name, outcome.kind);
        return;
      case 'stalled':
      case 'unsettled':
        metrics.tries.inc({ outcome: outcome.kind });
        logger.warn('a try of a delivery counts as lost', { ...idsOf(key), reason: outcome.kind });
        return;
      default:
        outcome satisfies never;
    }
  }

  #postpone(name: string, reason: string): void {
    const { clock, metrics } = this.#options;
    metrics.postponed.inc({ reason });
    if (this.#postponed.size < POSTPONED_MAX) this.#postponed.set(name, clock.monotonicMs() + POSTPONED_MS);
  }

  #forgetPostponed(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [name, untilMs] of this.#postponed) {
      // In the order of their ends, since each waits as long as the others.
      if (untilMs > nowMs) return;
      this.#postponed.delete(name);
    }
  }
}

function candidateOf(
  { attempt, bytes, jobId, url }: DueDelivery,
  endpointId: EndpointId,
  accountId: AccountId,
): Candidate {
  return { endpointId, jobId, attempt, accountId, bytes, host: URL.parse(url)?.host ?? url };
}

const idsOf = ({ endpointId, jobId, attempt }: DeliveryKey) => ({ endpointId, jobId, attempt });
