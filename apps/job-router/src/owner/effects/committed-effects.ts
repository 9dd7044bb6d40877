import type { EndpointId, StopOrder, TouchedJob } from '@berth/domain';
import type { Logger } from '@berth/telemetry';
import type { ChunkQuotas } from '../logs/chunk-quotas.js';
import type { WaitingTakes } from '../takes/waiting-takes.port.js';
import type { LeftoverRemovals } from '../deletions/leftover-removals.js';
import type { StopOrders } from './stop-orders.js';
import type { WatchNotices } from './watch-notices.js';

export interface CommittedEffectsOptions {
  readonly stops: Pick<StopOrders, 'send'>;
  readonly notices: Pick<WatchNotices, 'note'>;
  readonly removals: Pick<LeftoverRemovals, 'add'>;
  readonly quotas: Pick<ChunkQuotas, 'forget'>;
  readonly takes: Pick<WaitingTakes, 'wake'>;
  readonly logger: Logger;
}

/** Tells everybody who has to know what happened to jobs, once it is committed. All of it are hints. */
export class CommittedEffects {
  readonly #options: CommittedEffectsOptions;

  constructor(options: CommittedEffectsOptions) {
    this.#options = options;
  }

  /** Never throws: the log goes on whatever becomes of them. */
  tell(endpointId: EndpointId, touched: readonly TouchedJob[]): void {
    try {
      this.#tell(endpointId, touched);
    } catch (error) {
      this.#options.logger.error('what happened to jobs could not be told', { endpointId, error });
    }
  }

  #tell(endpointId: EndpointId, touched: readonly TouchedJob[]): void {
    const { notices, quotas, removals, stops, takes } = this.#options;
    const orders: StopOrder[] = [];
    let mayBeReady = false;
    for (const { jobId, leftovers, now, stop } of touched) {
      const key = { endpointId, jobId };
      if (stop !== null) orders.push(stop);
      if (leftovers !== null) removals.add(key, leftovers);
      if (now === 'moved') mayBeReady = true;
      // The chunks of an ended job lie there as long as its result.
      if (now === 'gone') quotas.forget(key);
      notices.note(key, now);
    }
    if (mayBeReady) takes.wake(endpointId);
    if (orders.length > 0) stops.send(endpointId, orders);
  }
}
