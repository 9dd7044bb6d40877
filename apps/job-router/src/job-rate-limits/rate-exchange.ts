import type { RateNews } from '@berth/contracts';
import { JOB_OPERATIONS } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { RateCounter } from './rate-counter.js';
import type { RateCounters } from './rate-counters.js';
import type { NatsRatePeers } from './nats-rate-peers.js';

/** Changes within this time go out together. */
export const BATCH_MS = 50;

/** How often a sign of life is given, and what is in flight is told again. */
export const BEAT_MS = 1_000;

/** A router that was not heard for so long counts for nothing but what it has admitted. */
export const SILENT_MS = 3_000;

/** Share of a limit that is told at once, whatever the batch: at most so much is unknown to the others. */
const UNTOLD_SHARE = 50;

/** At most 20 messages of 500 counters in a batch; what is beyond goes out with the next one. */
const NEWS_PER_MESSAGE = 500;
const MESSAGES_PER_BATCH = 20;

const ROUTERS_MAX = 256;

export interface RateExchangeOptions {
  readonly counters: RateCounters;
  readonly peers: Pick<NatsRatePeers, 'tell' | 'listen'>;
  readonly clock: Clock;
}

/** Keeps the counters of all routers together, without anybody waiting for it. */
export class RateExchange {
  readonly counters: RateCounters;
  readonly #peers: Pick<NatsRatePeers, 'tell' | 'listen'>;
  readonly #clock: Clock;
  /** Others, with the instant at which they were heard last. */
  readonly #routers = new Map<string, number>();
  readonly #changed = new Set<RateCounter>();
  #stops: readonly (() => void)[] = [];

  constructor({ counters, peers, clock }: RateExchangeOptions) {
    this.counters = counters;
    this.#peers = peers;
    this.#clock = clock;
  }

  start(): void {
    this.#stops = [
      this.#peers.listen((routerId, news) => {
        this.#hear(routerId, news);
      }),
      this.#clock.every(BATCH_MS, () => {
        this.#tellChanged();
      }),
      this.#clock.every(BEAT_MS, () => {
        this.#beat();
      }),
    ];
    this.#peers.tell([]);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  /** Something was admitted or has ended. Without another router to tell, that costs nothing. */
  note(counter: RateCounter, admitted: number): void {
    if (this.#routers.size === 0) return;
    counter.untold += admitted;
    if (counter.untold * UNTOLD_SHARE < JOB_OPERATIONS[counter.operation].rate) this.#changed.add(counter);
    else this.#tell([counter]);
  }

  #tellChanged(): void {
    if (this.#changed.size === 0) return;
    const due = [...this.#changed].slice(0, NEWS_PER_MESSAGE * MESSAGES_PER_BATCH);
    for (let from = 0; from < due.length; from += NEWS_PER_MESSAGE) {
      this.#tell(due.slice(from, from + NEWS_PER_MESSAGE));
    }
  }

  #tell(counters: readonly RateCounter[]): void {
    const news = counters.map(newsOf);
    for (const counter of counters) {
      counter.untold = 0;
      this.#changed.delete(counter);
    }
    this.#peers.tell(news);
  }

  #hear(routerId: string, news: readonly RateNews[]): void {
    const nowMs = this.#clock.monotonicMs();
    const isNew = !this.#routers.has(routerId);
    if (isNew && this.#routers.size >= ROUTERS_MAX) return;
    this.#routers.set(routerId, nowMs);
    for (const { endpointId, operation, ...counts } of news) {
      this.counters.of(endpointId, operation).hear(routerId, counts, nowMs);
    }
    if (isNew) this.#introduce();
  }

  /** A new peer knows nothing yet, and requests in flight here may last for minutes. */
  #introduce(): void {
    for (const counter of this.counters.all()) if (counter.inFlightHere > 0) this.#changed.add(counter);
    this.#peers.tell([]);
  }

  #beat(): void {
    const sinceMs = this.#clock.monotonicMs() - SILENT_MS;
    for (const [routerId, heardAtMs] of this.#routers) {
      if (heardAtMs < sinceMs) this.#routers.delete(routerId);
    }
    const isAlone = this.#routers.size === 0;
    for (const counter of this.counters.all()) {
      counter.forgetSilent(sinceMs);
      if (isAlone) counter.untold = 0;
      else if (counter.inFlightHere > 0) this.#changed.add(counter);
    }
    if (isAlone) this.#changed.clear();
    this.counters.forgetIdle(this.#clock.monotonicMs());
    this.#peers.tell([]);
  }
}

const newsOf = ({ endpointId, operation, untold, inFlightHere }: RateCounter): RateNews => ({
  endpointId,
  operation,
  admitted: untold,
  inFlight: inFlightHere,
});
