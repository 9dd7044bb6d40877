import type { WorkerCondition } from './worker-condition.js';
import type { WorkerView } from './worker-view.js';
import type { ObservedWorker } from './worker.js';

/** The part of an observation that never changes. */
export type WorkerIdentity = Pick<ObservedWorker, 'workerId' | 'endpointId' | 'release' | 'gpuTypeId'>;

/**
 * The observation that an agent reports.
 *
 * @param previous its last observation of this worker, or null
 */
export function observeWorker(
  identity: WorkerIdentity,
  { view, condition, previous }: ObservationParts,
  nowMs: number,
): ObservedWorker {
  const { container, session, journal } = view;
  const isSamePhase = previous !== null && previous.phase === condition.phase;
  return {
    ...identity,
    ...condition,
    runningJobs: session?.runningJobs ?? 0,
    failedStarts: journal.failedStarts,
    phaseSinceMs: isSamePhase ? previous.phaseSinceMs : nowMs,
    startedAtMs: container.kind === 'running' ? container.startedAtMs : null,
  };
}

export interface ObservationParts {
  readonly view: WorkerView;
  readonly condition: WorkerCondition;
  readonly previous: ObservedWorker | null;
}
