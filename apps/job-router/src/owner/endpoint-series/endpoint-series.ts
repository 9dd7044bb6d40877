import {
  OTHER_ENDPOINTS,
  NO_DEMAND,
  SERIES_MAX,
  readQueues,
  type Demand,
  type EndpointId,
  type QueueSeries,
  type TouchedJob,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { EndpointMetrics } from '../metrics.js';
import { COUNTED_OUTCOMES } from './counted-outcomes.js';

export interface EndpointSeriesOptions {
  /** Of the endpoints that this router owns and that have any. */
  readonly demands: () => ReadonlyMap<EndpointId, Demand>;
  /** Whether this router owns the endpoint. */
  readonly shows: (endpointId: EndpointId) => boolean;
  readonly metrics: EndpointMetrics;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/**
 * What this router shows of endpoints that it owns. Those that come first have series of their own; who is busier takes one
 * over when the metrics are read. An endpoint that moves to another owner goes from here, so that it is shown once.
 */
export class EndpointSeries {
  readonly #options: EndpointSeriesOptions;
  #members: ReadonlySet<EndpointId> = new Set();

  constructor(options: EndpointSeriesOptions) {
    this.#options = options;
  }

  /** What happened to jobs, once it is committed. */
  note(endpointId: EndpointId, touched: readonly TouchedJob[]): void {
    const { metrics } = this.#options;
    const endpoint = this.#seriesOf(endpointId);
    for (const { end } of touched) {
      if (end === undefined) continue;
      metrics.ended.inc({ endpoint, outcome: end.outcome });
      if (end.executionMs !== null) metrics.execution.observe({ endpoint }, end.executionMs / 1000);
    }
  }

  read(): readonly QueueSeries[] {
    const { clock, demands, shows } = this.#options;
    const all = new Map([...demands()].filter(([endpointId]) => shows(endpointId)));
    // An idle endpoint stays as it is: a counter that went and came again would have lost its first steps.
    for (const endpointId of this.#members) {
      if (!all.has(endpointId) && shows(endpointId)) all.set(endpointId, NO_DEMAND);
    }
    const { members, series } = readQueues(this.#members, all, clock.nowMs());
    this.#become(members);
    return series;
  }

  #seriesOf(endpointId: EndpointId): string {
    if (this.#members.has(endpointId)) return endpointId;
    if (this.#members.size >= SERIES_MAX) return OTHER_ENDPOINTS;
    this.#become(new Set([...this.#members, endpointId]));
    return endpointId;
  }

  #become(members: ReadonlySet<EndpointId>): void {
    const { metrics } = this.#options;
    for (const endpoint of this.#members) if (!members.has(endpoint)) dropEndpoint(metrics, endpoint);
    for (const endpoint of members) if (!this.#members.has(endpoint)) beginEndpoint(metrics, endpoint);
    this.#members = members;
  }
}

/** An endpoint begins at zero: its first end is an increase then, unless it is by that end that the endpoint begins. */
function beginEndpoint({ ended, execution }: EndpointMetrics, endpoint: string): void {
  for (const outcome of COUNTED_OUTCOMES) ended.inc({ endpoint, outcome }, 0);
  execution.zero({ endpoint });
}

function dropEndpoint({ ended, execution }: EndpointMetrics, endpoint: string): void {
  for (const outcome of COUNTED_OUTCOMES) ended.remove({ endpoint, outcome });
  execution.remove({ endpoint });
}
