import type { WorkerId } from '../ids.js';
import { goneReason, type GoneReason, type HostedWorker } from './hosted-worker.js';
import { isStale } from './rollout.js';
import type { Worker, WorkerPhase } from './worker.js';

export type DrainReason = 'endpoint-deleted' | 'host-draining' | 'stale-release' | 'scale-down';

export type EndpointOperation =
  /** Place one worker of this release. One operation per wanted worker. */
  | { readonly kind: 'create-worker'; readonly release: number }
  /** No new job, then gone. */
  | { readonly kind: 'drain-worker'; readonly workerId: WorkerId; readonly reason: DrainReason }
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
}

/**
 * The operations that bring an endpoint's workers to what is wanted: at most one per worker, none when everything is
 * as it should be. `workersMax` holds for all workers that may still run, draining ones included; those of a lost host
 * do not count. Scale-down takes workers without a job only; a job of an old release, a deleted endpoint or a draining
 * host is finished by its worker.
 */
export function planEndpoint(view: EndpointView, nowMs: number): readonly EndpointOperation[] {
  const gone: EndpointOperation[] = [];
  const present: HostedWorker[] = [];
  for (const hosted of view.workers) {
    const reason = goneReason(hosted, view.observingSinceMs, nowMs);
    if (reason === null) present.push(hosted);
    else gone.push({ kind: 'forget-worker', workerId: hosted.worker.id, reason });
  }
  const running = present.filter(({ worker }) => worker.intent === 'running');
  const leaving = running.flatMap((hosted) => drainIf(hosted.worker, mustLeaveBecause(hosted, view)));
  const staying = running.filter((hosted) => mustLeaveBecause(hosted, view) === null).map(({ worker }) => worker);
  const wanted = view.isDeleted ? 0 : view.desiredWorkers;
  const missing = Math.max(0, Math.min(wanted - staying.length, view.workersMax - present.length));
  return [
    ...gone,
    ...leaving,
    ...surplus(staying, wanted).flatMap((worker) => drainIf(worker, 'scale-down')),
    ...Array.from({ length: missing }, () => ({ kind: 'create-worker', release: view.release }) as const),
  ];
}

function mustLeaveBecause({ worker, host }: HostedWorker, view: EndpointView): DrainReason | null {
  if (view.isDeleted) return 'endpoint-deleted';
  if (host?.intent === 'draining') return 'host-draining';
  return isStale(worker, view.release) ? 'stale-release' : null;
}

const drainIf = (worker: Worker, reason: DrainReason | null): readonly EndpointOperation[] =>
  reason === null ? [] : [{ kind: 'drain-worker', workerId: worker.id, reason }];

/** Who leaves first when there are too many: what serves nobody, then what is not warm yet, then the newest idle. */
const LEAVES_AT: Readonly<Record<WorkerPhase, number | null>> = {
  unhealthy: 0,
  waiting: 1,
  preparing: 2,
  starting: 2,
  idle: 3,
  busy: null,
  draining: null,
  removed: null,
};

const leavesAt = ({ observed }: Worker): number | null => LEAVES_AT[observed?.phase ?? 'preparing'];

function surplus(staying: readonly Worker[], wanted: number): readonly Worker[] {
  return staying
    .flatMap((worker) => {
      const rank = leavesAt(worker);
      return rank === null ? [] : [{ worker, rank }];
    })
    .sort((a, b) => a.rank - b.rank || b.worker.createdAtMs - a.worker.createdAtMs || compareIds(a.worker, b.worker))
    .slice(0, Math.max(0, staying.length - wanted))
    .map(({ worker }) => worker);
}

const compareIds = (a: Worker, b: Worker): number => (a.id < b.id ? -1 : Number(a.id > b.id));
