import type { EndpointId } from '../ids.js';
import type { Demand } from '../scaling/index.js';
import { chooseSeries } from './choose-series.js';

/** The name under which all endpoints without series of their own are summed: no id begins with an underscore. */
export const OTHER_ENDPOINTS = '_other';

/** What is shown of the queue of an endpoint, or of all the others together. */
export interface QueueSeries {
  readonly endpoint: string;
  readonly waiting: number;
  readonly running: number;
  /** Of the normal job that waits longest; 0 when none waits. */
  readonly oldestWaitMs: number;
}

export interface QueueReading {
  readonly members: ReadonlySet<EndpointId>;
  /** Of each member, then of all others together, also where there are none. */
  readonly series: readonly QueueSeries[];
}

/** @param demands of the endpoints that this process owns: nobody else shows them */
export function readQueues(
  members: ReadonlySet<EndpointId>,
  demands: ReadonlyMap<EndpointId, Demand>,
  nowMs: number,
): QueueReading {
  const weights = new Map([...demands].map(([id, demand]) => [id, weightOf(demand)]));
  const chosen = new Set(chooseSeries(members, weights));
  const rest = [...demands]
    .filter(([id]) => !chosen.has(id))
    .map(([, demand]) => seriesOf(OTHER_ENDPOINTS, demand, nowMs));
  const own = [...chosen].flatMap((id) => {
    const demand = demands.get(id);
    return demand === undefined ? [] : [seriesOf(id, demand, nowMs)];
  });
  return { members: chosen, series: [...own, sumOf(rest)] };
}

/** Jobs that have just ended count, too, or an endpoint of short jobs would seem idle whenever it is looked at. */
const weightOf = ({ endedLastMinute, queuedLow, queuedNormal, running }: Demand): number =>
  queuedNormal + queuedLow + running + endedLastMinute;

const seriesOf = (endpoint: string, demand: Demand, nowMs: number): QueueSeries => ({
  endpoint,
  waiting: demand.queuedNormal + demand.queuedLow,
  running: demand.running,
  oldestWaitMs: demand.oldestQueuedAtMs === null ? 0 : Math.max(0, nowMs - demand.oldestQueuedAtMs),
});

const sumOf = (all: readonly QueueSeries[]): QueueSeries =>
  all.reduce(
    (sum, each) => ({
      endpoint: OTHER_ENDPOINTS,
      waiting: sum.waiting + each.waiting,
      running: sum.running + each.running,
      oldestWaitMs: Math.max(sum.oldestWaitMs, each.oldestWaitMs),
    }),
    { endpoint: OTHER_ENDPOINTS, waiting: 0, running: 0, oldestWaitMs: 0 },
  );
