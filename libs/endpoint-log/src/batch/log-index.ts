import { nextLookAtMs, nextTryAtMs, viewDemand, type Demand, type EndpointState } from '@berth/domain';
import type { LogIndex } from '../ports/log-broker.port.js';

/** The index beside a batch that leaves the endpoint in this state. */
export function indexOf(state: EndpointState, atMs: number): LogIndex {
  const dueAtMs = Math.min(nextLookAtMs(state), nextTryAtMs(state));
  const { oldestQueuedAtMs, queuedLow, queuedNormal, running, runningLow } = viewDemand(state, atMs);
  return {
    dueAtMs: Number.isFinite(dueAtMs) ? Math.ceil(dueAtMs) : null,
    waitingNormal: queuedNormal,
    waitingLow: queuedLow,
    oldestQueuedAtMs,
    running,
    runningLow,
    living: state.jobs.size,
  };
}

/** Jobs that ended within the last minute, and how long they ran, ms. No index says it. */
interface PaceRead {
  readonly ended: number;
  readonly executionMs: number;
}

const NO_PACE: PaceRead = { ended: 0, executionMs: 0 };

/** The demand that stands beside a batch. */
export const demandOf = (index: LogIndex, { ended, executionMs } = NO_PACE): Demand => ({
  queuedNormal: index.waitingNormal,
  queuedLow: index.waitingLow,
  running: index.running,
  runningLow: index.runningLow,
  oldestQueuedAtMs: index.oldestQueuedAtMs,
  endedLastMinute: ended,
  executionMsLastMinute: executionMs,
});
