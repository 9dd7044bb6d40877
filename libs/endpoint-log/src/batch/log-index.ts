import { nextLookAtMs, viewDemand, type EndpointState } from '@berth/domain';
import type { LogIndex } from '../ports/log-broker.port.js';

/** What stands beside a batch that leaves the endpoint in this state. */
export function indexOf(state: EndpointState, atMs: number): LogIndex {
  const dueAtMs = nextLookAtMs(state);
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
