import { NO_DEMAND, type Demand, type StrictDemand } from './demand.js';

/** Of one endpoint, by each who sees some of it. Null: one of them does not know, so nobody knows the sum. */
export function sumDemands(parts: readonly (Demand | null)[]): Demand | null {
  return parts.reduce((sum, part) => (sum === null || part === null ? null : add(sum, part)), NO_DEMAND);
}

const add = (a: Demand, b: Demand): Demand => ({
  queuedNormal: a.queuedNormal + b.queuedNormal,
  queuedLow: a.queuedLow + b.queuedLow,
  running: a.running + b.running,
  runningLow: a.runningLow + b.runningLow,
  oldestQueuedAtMs: earlier(a.oldestQueuedAtMs, b.oldestQueuedAtMs),
  endedLastMinute: a.endedLastMinute + b.endedLastMinute,
  executionMsLastMinute: a.executionMsLastMinute + b.executionMsLastMinute,
  ...strictOf([...(a.strict ?? []), ...(b.strict ?? [])]),
});

/** Several routers may hold requests for one worker. */
function strictOf(parts: readonly StrictDemand[]): Pick<Demand, 'strict'> {
  if (parts.length === 0) return {};
  const byWorker = Map.groupBy(parts, ({ workerId }) => workerId);
  const summed = [...byWorker].map(([workerId, own]) => ({
    workerId,
    queued: own.reduce((sum, { queued }) => sum + queued, 0),
  }));
  return { strict: summed };
}

const earlier = (a: number | null, b: number | null): number | null => {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
};
