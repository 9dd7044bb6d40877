import type { EndpointId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { JobFeed } from './job-feed.port.js';
import type { JobView } from './job-view.service.js';

/** Changes within this time go out together. */
export const DEBOUNCE_MS = 50;

/** How often everything is told, changed or not. */
export const COMPLETE_INTERVAL_MS = 2_000;

/** Endpoints in one message: it must stay below the broker's message limit. */
const ENDPOINTS_PER_MESSAGE = 2_000;

export interface DemandPublisherOptions {
  readonly view: JobView;
  readonly clock: Clock;
  readonly routerId: string;
  /** While it may miss something nothing is said, because unknown is not none. */
  readonly feed: Pick<JobFeed, 'isWhole' | 'publishDemand'>;
}

/** Tells the controllers what waits and runs: what has changed almost at once, and everything on a timer. */
export class DemandPublisher {
  readonly #options: DemandPublisherOptions;
  #stops: readonly (() => void)[] = [];

  constructor(options: DemandPublisherOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, view, feed } = this.#options;
    this.#stops = [
      clock.every(DEBOUNCE_MS, () => {
        if (view.hasChanged && feed.isWhole) this.#send(view.takeChanged(), false);
      }),
      clock.every(COMPLETE_INTERVAL_MS, () => {
        if (feed.isWhole) this.#send(view.demandingEndpoints(clock.nowMs()), true);
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  /** A list too long for one message begins as a whole one, and what it lacks follows at once as changes. */
  #send(endpointIds: readonly EndpointId[], isWhole: boolean): void {
    const { view, clock, routerId, feed } = this.#options;
    const nowMs = clock.nowMs();
    for (let from = 0; from === 0 || from < endpointIds.length; from += ENDPOINTS_PER_MESSAGE) {
      const part = endpointIds.slice(from, from + ENDPOINTS_PER_MESSAGE);
      const endpoints = part.map((endpointId) => ({ endpointId, ...view.demand(endpointId, nowMs) }));
      feed.publishDemand({ routerId, sentAtMs: nowMs, isComplete: isWhole && from === 0, endpoints });
    }
  }
}
