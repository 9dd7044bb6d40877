export { HOST_NEWS_MAX_BYTES, fitReport } from './fit-report.js';
export { goneReason, type GoneReason, type HostedWorker } from './hosted-worker.js';
export {
  admitRequest,
  afterCheck,
  afterConnectionError,
  afterRest,
  newHealth,
  nextCheckInMs,
  type AdmissionView,
  type HealthAnswer,
  type WorkerHealth,
} from './balanced/index.js';
export { WORKER_NOTES_MAX, observeWorker, type WorkerIdentity } from './agent-plan/observe-worker.js';
export { HEALTH_START_MAX_MS } from './agent-plan/find-sickness.js';
export { STOP_GRACE_DEFAULT_MS } from './agent-plan/plan-drain.js';
export type { DrainReason, EndpointView } from './plan-endpoint.js';
export { byLastUse, lastUsedAtMs } from './last-use.js';
export { planWithPaused, type PausingOperation } from './plan-paused.js';
export { hasGivenUp, planAhead, type AheadImage } from './agent-plan/plan-ahead.js';
export { planWorker } from './agent-plan/plan-worker.js';
export { imageAheadOn, isHeldBack, withPullAhead } from './rollout/image-ahead.js';
export { isStale } from './rollout/is-stale.js';
export { rolloutOf, type Rollout } from './rollout/rollout.js';
export { countStarts, describeCrashLoop, type ReleaseStarts } from './rollout/release-starts.js';
export { newJournal, withStartFailure, type LastFailure, type WorkerJournal } from './agent-plan/worker-journal.js';
export { isFrozen } from './agent-plan/worker-view.js';
export type { WorkerOperation } from './agent-plan/worker-operation.js';
export { WORKER_LIFECYCLE, WORKER_PHASES, type WorkerStatus, type WorkerUse } from './worker-phase.js';
export { STRAY_GRACE_MS } from './agent-plan/worker-purpose.js';
export { countStatuses, throttledCount, workerStatus, type StatusCounts } from './worker-status.js';
export type {
  ContainerState,
  WantedWorker,
  Preparation,
  ContainerSession,
  PauseFailure,
  SessionHealth,
  WorkerView,
} from './agent-plan/worker-view.js';
export {
  WORKER_REASON_CHARACTERS_MAX,
  type ObservedWorker,
  type Worker,
  type WorkerIntent,
  type WorkerPhase,
  type WorkerResources,
} from './worker.js';
