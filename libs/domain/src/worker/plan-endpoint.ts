import type { WorkerId } from '../ids.js';
import { goneReason, type GoneReason, type HostedWorker } from './hosted-worker.js';
import { isRecentlyUsed } from './idle-time.js';
import { isStale } from './rollout.js';
import type { Worker, WorkerPhase } from './worker.js';

export type DrainReason = 'endpoint-deleted' | 'host-draining' | 'stale-release' | 'scale-down';

export type EndpointOperation =
  /** Place one worker of this release. One operation per wanted worker. */
  | { readonly kind: 'create-worker'; readonly release: number }
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
}

/**
 * The operations that bring an endpoint's workers to what is wanted: at most one per worker, none when everything is
 * as it should be. `workersMax` holds for all workers that may still run, draining ones included; those of a lost host
 * do not count. Scale-down takes workers without a job only, and none whose last one ended within the idle time, unless
 * there are more than the maximum; a job of an old release, a deleted endpoint or a draining host is finished by its
 * worker.
 */
export function planEndpoint(view: EndpointView, nowMs: number): readonly EndpointOperation[] {
  const gone: EndpointOperation[] = [];
  const present: HostedWorker[] = [];
  for (const hosted of view.workers) {
    const reason = goneReason(hosted, view.observingSinceMs, nowMs);
    if (reason === null) present.push(hosted);
    else gone.push({ kind: 'forget-worker', workerId: hosted.worker.id, reason });
  }
  const held = present.filter(({ worker }) => worker.intent === 'running' || isLingering(worker));
  const leaving = held.flatMap((hosted) => drainIf(hosted.worker, mustLeaveBecause(hosted, view)));
  const kept = held.filter((hosted) => mustLeaveBecause(hosted, view) === null).map(({ worker }) => worker);
  const staying = kept.filter(({ intent }) => intent === 'running');
  const wanted = view.isDeleted ? 0 : Math.min(view.desiredWorkers, view.workersMax);
  const resumed = kept.filter(isResumable).slice(0, Math.max(0, wanted - staying.length));
  const missing = Math.max(0, Math.min(wanted - staying.length - resumed.length, view.workersMax - present.length));
  const drained = surplus(staying, { ...view, wanted, nowMs });
  return [
    ...gone,
    ...leaving,
    ...drained,
    ...resumed.map(({ id }) => ({ kind: 'resume-worker', workerId: id }) as const),
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
  paused: 3,
  busy: null,
  draining: null,
  removed: null,
};

const leavesAt = ({ observed }: Worker): number | null => LEAVES_AT[observed?.phase ?? 'preparing'];

interface Surplus extends Pick<EndpointView, 'workersMax' | 'idleTimeoutMs'> {
  readonly wanted: number;
  readonly nowMs: number;
}

/**
 * Who is too many. Those above the maximum leave at once; the others when they have been idle for long enough, which
 * their agents know better than anybody here.
 */
function surplus(
  staying: readonly Worker[],
  { idleTimeoutMs, nowMs, wanted, workersMax }: Surplus,
): readonly (EndpointOperation & { readonly kind: 'drain-worker' })[] {
  const isUsed = ({ observed }: Worker): boolean =>
    idleTimeoutMs !== undefined && isRecentlyUsed(observed, idleTimeoutMs, nowMs);
  const candidates = staying
    .flatMap((worker) => {
      const rank = leavesAt(worker);
      return rank === null ? [] : [{ worker, rank, isUsed: isUsed(worker) }];
    })
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        Number(a.isUsed) - Number(b.isUsed) ||
        b.worker.createdAtMs - a.worker.createdAtMs ||
        compareIds(a.worker, b.worker),
    );
  const aboveMax = Math.max(0, staying.length - workersMax);
  const idle = candidates.slice(aboveMax).filter((candidate) => !candidate.isUsed);
  const tooMany = Math.max(0, staying.length - Math.max(wanted, 0) - aboveMax);
  const conditional = idleTimeoutMs === undefined ? {} : { leavesAfterIdleMs: idleTimeoutMs };
  const drain = ({ worker: { id: workerId } }: { readonly worker: Worker }) =>
    ({ kind: 'drain-worker', workerId, reason: 'scale-down' }) as const;
  return [
    ...candidates.slice(0, aboveMax).map(drain),
    ...idle.slice(0, tooMany).map((candidate) => ({ ...drain(candidate), ...conditional })),
  ];
}

/** Told to leave for want of jobs, and still there: its last job may have ended after that was decided. */
const isLingering = ({ intent, leavesAfterIdleMs }: Worker): boolean =>
  intent === 'drained' && leavesAfterIdleMs !== undefined;

const isResumable = (worker: Worker): boolean => {
  const phase = worker.observed?.phase;
  return isLingering(worker) && (phase === 'idle' || phase === 'busy');
};

const compareIds = (a: Worker, b: Worker): number => (a.id < b.id ? -1 : Number(a.id > b.id));
