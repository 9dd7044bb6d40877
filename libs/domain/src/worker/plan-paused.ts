import type { Flashboot } from '../endpoint/index.js';
import type { WorkerId } from '../ids.js';
import { goneReason, type HostedWorker } from './hosted-worker.js';
import { byLastUse } from './last-use.js';
import { planEndpoint, type DrainReason, type EndpointOperation, type EndpointView } from './plan-endpoint.js';
import { isStale } from './rollout/is-stale.js';
import type { Worker } from './worker.js';

/** What `planEndpoint` looks at, and whether workers may be paused. */
export interface PausableView extends EndpointView {
  readonly flashboot: Flashboot;
  /** Whom requests wait for that no other worker can serve. Absent: nobody. */
  readonly strictIds?: ReadonlySet<WorkerId>;
}

export type PausingOperation =
  | Exclude<EndpointOperation, { readonly kind: 'drain-worker' }>
  | (Omit<EndpointOperation & { readonly kind: 'drain-worker' }, 'reason'> & {
      readonly reason: DrainReason | 'flashboot-off';
    })
  /** No job for now, and frozen as long after its last one as is named here. */
  | { readonly kind: 'pause-worker'; readonly workerId: WorkerId; readonly pausesAfterIdleMs: number };

/**
 * The plan of an endpoint some of whose workers are paused. Those do not serve, so the rest is planned for as if they were
 * not there, and then: whoever would be made is resumed instead, where one is paused; and whoever would leave for want of
 * jobs is paused, where flashboot is on and the host can. They count towards the maximum. Those of an older release are
 * part of the rollout as its idle workers are: they go once the latest has been up, and may serve again until then. A worker
 * that is wanted alone is resumed whoever else is idle, within the maximum, and does not leave for want of jobs.
 */
export function planWithPaused(view: PausableView, nowMs: number): readonly PausingOperation[] {
  const isThere = (hosted: HostedWorker): boolean => goneReason(hosted, view.observingSinceMs, nowMs) === null;
  const isRolled = (hosted: HostedWorker): boolean =>
    hosted.worker.intent !== 'paused' || (isStale(hosted.worker, view.release) && leavesBecause(hosted, view) === null);
  const rolled = view.workers.filter(isRolled);
  const paused = view.workers.filter((hosted) => !isRolled(hosted));
  const planned = planEndpoint({ ...view, workers: rolled }, nowMs);
  const creations = planned.filter(({ kind }) => kind === 'create-worker');
  const there = paused.filter(isThere);
  const kept = there.filter((hosted) => leavesBecause(hosted, view) === null).map(({ worker }) => worker);
  const rolledNow = rolled.filter(isThere).map(({ worker }) => worker);
  const room = Math.max(0, view.workersMax - rolledNow.length);
  const resumed = resumedOf(kept, { ...{ view, room }, missing: creations.length });
  const decided = new Set(planned.map((each) => (each.kind === 'create-worker' ? null : each.workerId)));
  const oldest = rolledNow.filter(({ id, intent }) => intent === 'paused' && !decided.has(id)).toSorted(byLastUse);
  const tooMany = [...oldest, ...kept.filter((worker) => !resumed.includes(worker)).toSorted(byLastUse)];
  const aboveMax = Math.max(0, rolledNow.length + kept.length - view.workersMax);
  const leaving = tooMany.slice(0, aboveMax);
  const woken = oldest.filter((worker) => isStrict(worker, view) && isResumable(worker) && !leaving.includes(worker));
  const roomLeft = Math.max(0, view.workersMax - rolledNow.length - there.length);
  return [
    ...paused.flatMap((hosted) => forgotten(hosted, view, nowMs)),
    ...planned
      .filter((each) => each.kind !== 'create-worker' && !isForbidden(each, view))
      .map((each) => pausedInstead(each, view)),
    ...there.flatMap((hosted) => drained(hosted.worker, leavesBecause(hosted, view))),
    ...leaving.flatMap((worker) => drained(worker, 'scale-down')),
    ...[...resumed, ...woken].map(({ id }) => ({ kind: 'resume-worker', workerId: id }) as const),
    ...creations.slice(resumed.length).slice(0, roomLeft),
  ];
}

const isStrict = ({ id }: Pick<Worker, 'id'>, { strictIds }: PausableView): boolean => strictIds?.has(id) === true;

/** It would leave for want of jobs, though requests wait for it. */
const isForbidden = (operation: EndpointOperation, view: PausableView): boolean =>
  operation.kind === 'drain-worker' &&
  operation.leavesAfterIdleMs !== undefined &&
  isStrict({ id: operation.workerId }, view);

/** Those that are wanted alone come first, and come also where nobody is missing; then as many as are. */
function resumedOf(
  kept: readonly Worker[],
  { missing, room, view }: { readonly view: PausableView; readonly room: number; readonly missing: number },
): readonly Worker[] {
  const byWant = (a: Worker, b: Worker): number => Number(isStrict(b, view)) - Number(isStrict(a, view));
  const resumable = kept.filter(isResumable).toSorted((a, b) => byWant(a, b) || byReadiness(a, b));
  const strict = resumable.filter((worker) => isStrict(worker, view)).length;
  return resumable.slice(0, Math.max(missing, Math.min(strict, room)));
}

const canBePaused = ({ flashboot }: PausableView): boolean => flashboot !== 'OFF';

const canPause = ({ host }: HostedWorker): boolean => host?.inventory?.canPause === true;

/** Why a paused worker must leave, whatever its release; null: it may stay as it is. */
function leavesBecause(hosted: HostedWorker, view: PausableView): DrainReason | 'flashboot-off' | null {
  if (view.isDeleted) return 'endpoint-deleted';
  if (hosted.host?.intent === 'draining') return 'host-draining';
  return canBePaused(view) && canPause(hosted) ? null : 'flashboot-off';
}

/** Only what is idle can be frozen: what has not come up yet, or does not, leaves. */
function pausedInstead(operation: EndpointOperation, view: PausableView): PausingOperation {
  if (operation.kind !== 'drain-worker' || operation.leavesAfterIdleMs === undefined) return operation;
  const { leavesAfterIdleMs: pausesAfterIdleMs, workerId } = operation;
  const hosted = view.workers.find(({ worker }) => worker.id === workerId);
  const isPaused = canBePaused(view) && hosted?.worker.observed?.phase === 'idle' && canPause(hosted);
  return isPaused ? { kind: 'pause-worker', workerId, pausesAfterIdleMs } : operation;
}

/** One that its agent is replacing, or that it has not seen yet, does not come back. */
function isResumable({ observed }: Worker): boolean {
  const phase = observed?.phase;
  return phase === 'paused' || phase === 'idle' || phase === 'busy';
}

/** Those that are not frozen yet, then the ones used last: what they hold is the most likely to be of use. */
const byReadiness = (a: Worker, b: Worker): number =>
  Number(a.observed?.phase === 'paused') - Number(b.observed?.phase === 'paused') || byLastUse(b, a);

function forgotten(hosted: HostedWorker, view: PausableView, nowMs: number): readonly PausingOperation[] {
  const reason = goneReason(hosted, view.observingSinceMs, nowMs);
  return reason === null ? [] : [{ kind: 'forget-worker', workerId: hosted.worker.id, reason }];
}

const drained = ({ id }: Worker, reason: DrainReason | 'flashboot-off' | null): readonly PausingOperation[] =>
  reason === null ? [] : [{ kind: 'drain-worker', workerId: id, reason }];
