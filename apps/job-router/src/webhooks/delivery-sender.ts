import { isUnreadable } from '@berth/domain';
import { ControlLoop, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { isUnavailable } from '../patiently.js';
import { SEND_LIMITS, chooseDue, deliveryName, type SendLimits } from './choose-due.js';
import type { AttemptOutcome, DeliveryAttempt } from './delivery-attempt.js';
import type { WebhookMetrics } from './metrics.js';
import type { PendingDeliveries, PendingDelivery } from './pending-deliveries.port.js';

export interface DeliverySenderOptions {
  readonly pending: PendingDeliveries;
  readonly attempt: Pick<DeliveryAttempt, 'run'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: WebhookMetrics;
  readonly logger: Logger;
  readonly limits?: SendLimits;
}

const INTERVAL_MS = 500;

/** All routers hear of a delivery at one instant: each waits a little of its own, so that mostly one begins. */
const WAKE_JITTER_MS = 150;

/** A delivery that could not be tried for a reason of ours is not looked at before this. */
const POSTPONED_MS = 3_000;

/** Tells receivers what is due. Level-triggered, and safe to run in every router: the claim decides who tries. */
export class DeliverySender {
  readonly #options: DeliverySenderOptions;
  readonly #loop: ControlLoop;
  readonly #underWay = new Map<string, PendingDelivery>();
  readonly #ends = new Set<Promise<void>>();
  /** Until when a delivery is left alone, by name; monotonic. */
  readonly #postponed = new Map<string, number>();
  #isWaking = false;

  constructor(options: DeliverySenderOptions) {
    this.#options = options;
    this.#loop = new ControlLoop({
      name: 'webhook.sender',
      intervalMs: INTERVAL_MS,
      clock: options.clock,
      run: async () => {
        this.sendDue();
      },
      onError: (name, error) => {
        options.logger.error(`control loop ${name} failed; it runs again`, { error });
      },
    });
    options.pending.onSeen(() => {
      this.#wake();
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

  /** Begins what is due and may be begun. */
  sendDue(): void {
    const { clock, limits = SEND_LIMITS, pending } = this.#options;
    const chosen = chooseDue(this.#ready(pending.pending()), this.#underWay, { nowMs: clock.nowMs(), limits });
    for (const delivery of chosen) {
      const name = deliveryName(delivery);
      this.#underWay.set(name, delivery);
      const end = this.#send(name, delivery).finally(() => {
        this.#underWay.delete(name);
        this.#ends.delete(end);
        this.#loop.hurry();
      });
      this.#ends.add(end);
    }
  }

  *#ready(pending: Iterable<PendingDelivery>): Generator<PendingDelivery> {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [name, untilMs] of this.#postponed) if (untilMs <= nowMs) this.#postponed.delete(name);
    for (const delivery of pending) if (!this.#postponed.has(deliveryName(delivery))) yield delivery;
  }

  #wake(): void {
    const { clock, random } = this.#options;
    if (this.#isWaking) return;
    this.#isWaking = true;
    void clock.sleep(random.fraction() * WAKE_JITTER_MS).then(() => {
      this.#isWaking = false;
      this.#loop.hurry();
    });
  }

  async #send(name: string, pending: PendingDelivery): Promise<void> {
    try {
      this.#note(name, pending, await this.#options.attempt.run(pending));
    } catch (error) {
      // It is named where it was read, and nobody can make anything of it.
      if (isUnreadable(error)) {
        this.#options.pending.forget(pending);
        return;
      }
      this.#postpone(name, isUnavailable(error) ? 'store-unavailable' : 'fault');
      if (!isUnavailable(error))
        this.#options.logger.error('a delivery could not be tried', { ...idsOf(pending), error });
    }
  }

  #note(name: string, pending: PendingDelivery, outcome: AttemptOutcome): void {
    const { logger, metrics } = this.#options;
    switch (outcome.kind) {
      case 'tried':
        metrics.tries.inc({ outcome: outcome.receipt.kind });
        logger.debug('told a receiver', { ...idsOf(pending), outcome: outcome.receipt.kind });
        return;
      case 'gone':
        this.#options.pending.forget(pending);
        return;
      case 'not-due':
        // Its new version is on its way to here; until then the old one must not be looked at over and over.
        this.#postponed.set(name, this.#options.clock.monotonicMs() + INTERVAL_MS);
        return;
      case 'no-secret':
        this.#postpone(name, outcome.kind);
        return;
      case 'stalled':
      case 'unsettled':
        metrics.tries.inc({ outcome: outcome.kind });
        logger.warn('a try of a delivery counts as lost', { ...idsOf(pending), reason: outcome.kind });
        return;
      default:
        outcome satisfies never;
    }
  }

  #postpone(name: string, reason: string): void {
    const { clock, metrics } = this.#options;
    metrics.postponed.inc({ reason });
    this.#postponed.set(name, clock.monotonicMs() + POSTPONED_MS);
  }
}

const idsOf = ({ endpointId, jobId, attempt }: PendingDelivery) => ({ endpointId, jobId, attempt });
