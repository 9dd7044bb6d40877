import type { WorkerId } from '../ids.js';
import { goneReason, type GoneReason, type HostedWorker } from './hosted-worker.js';
import { lineUp, type LineUp } from './rollout/line-up.js';
import { planRollout, type Leaving } from './rollout/plan-rollout.js';
import { countStarts, type ReleaseStarts } from './rollout/release-starts.js';
import type { Worker } from './worker.js';

export type DrainReason = 'endpoint-deleted' | Leaving['reason'];

export type EndpointOperation =
  /** Place one worker of this release. One operation per wanted worker. */
  | {
      readonly kind: 'create-worker';
      readonly release: number;
      /** Where no host has room for it, the first of these leaves whose place it could have; absent: none does. */
      readonly inPlaceOf?: readonly WorkerId[];
    }
  /** No new job, then gone: at once, or as long after its last job as is named here. */
  | {
      readonly kind: 'drain-worker';
      readonly workerId: WorkerId;
      readonly reason: DrainReason;
      readonly leavesAfterIdleMs?: number;
    }
  /** Drained for want of jobs, still there, and wanted again. */
  | { readonly kind: 'resume-worker'; readonly workerId: WorkerId }
  /** Nothing runs there any more, or nobody can tell: delete the assignment. */
  | { readonly kind: 'forget-worker'; readonly workerId: WorkerId; readonly reason: GoneReason };

/** All that the plan of one endpoint looks at. */
export interface EndpointView {
  readonly isDeleted: boolean;
  /** Ordinal of the latest release. */
  readonly release: number;
  /** The scaling decision. */
  readonly desiredWorkers: number;
  readonly workersMax: number;
  readonly workers: readonly HostedWorker[];
  /** Since when heartbeats have been received without a break. */
  readonly observingSinceMs: number;
  /** How long a worker stays after its last job. Absent: no longer than the scaling decision says. */
  readonly idleTimeoutMs?: number;
  /** How the workers of the latest release start. Absent: no more is known than what is seen of them now. */
  readonly starts?: ReleaseStarts;
  /** See `RolloutBounds`; absent: nobody is held back. */
  readonly isHeldBack?: (worker: Worker) => boolean;
}

/**
 * The operations that bring an endpoint's workers to what is wanted: at most one per worker, none when everything is
 * as it should be. `workersMax` holds for all workers that may still run, draining ones included; those of a lost host
 * do not count. Scale-down takes workers without a job only, and none whose last one ended within the idle time, unless
 * there are more than the maximum; a job of an old release, a deleted endpoint or a draining host is finished by its
 * worker. How a new release comes is `planRollout`.
 */
export function planEndpoint(view: EndpointView, nowMs: number): readonly EndpointOperation[] {
  const { idleTimeoutMs, isHeldBack, release, workersMax } = view;
  const gone: EndpointOperation[] = [];
  const present: HostedWorker[] = [];
  for (const hosted of view.workers) {
    const reason = goneReason(hosted, view.observingSinceMs, nowMs);
    if (reason === null) present.push(hosted);
    else gone.push({ kind: 'forget-worker', workerId: hosted.worker.id, reason });
  }
  const line = lineUp(present, release);
  if (view.isDeleted) return [...gone, ...staffOf(line).map((worker) => drain({ worker, reason: 'endpoint-deleted' }))];
  const starts = view.starts ?? countStarts(null, { release, workers: present.map(({ worker }) => worker) }, nowMs);
  const wanted = Math.min(view.desiredWorkers, workersMax);
  const bounds = { wanted, workersMax, nowMs, ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }) };
  const rolling = isHeldBack === undefined ? bounds : { ...bounds, isHeldBack };
  const { created, leaving, mayYield, resumed, yielding } = planRollout(line, rolling, starts);
  return [
    ...gone,
    ...leaving.map(drain),
    ...resumed.map(({ id }) => ({ kind: 'resume-worker', workerId: id }) as const),
    ...Array.from({ length: created }, (_, index): EndpointOperation => ({
      ...{ kind: 'create-worker', release },
      ...(index < mayYield && yielding.length > 0 ? { inPlaceOf: yielding } : {}),
    })),
  ];
}

/** All that have not been told to leave at once. */
const staffOf = ({ fresh, hopeless, lingering, old }: LineUp): readonly Worker[] => [
  ...fresh,
  ...old,
  ...hopeless,
  ...lingering,
];

const drain = ({
  leavesAfterIdleMs,
  reason,
  worker,
}: Omit<Leaving, 'reason'> & { readonly reason: DrainReason }): EndpointOperation => ({
  ...{ kind: 'drain-worker', workerId: worker.id, reason },
  ...(leavesAfterIdleMs === undefined ? {} : { leavesAfterIdleMs }),
});
