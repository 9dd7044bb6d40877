import { sessionEndReason } from './plan-container-end.js';
import { UNHEALTHY_AFTER_FAILURES } from './start-backoff.js';
import { nextStartAtMs, type WorkerJournal } from './worker-journal.js';
import { replaceReason, unwantedLeftover, type WorkerPurpose } from './worker-purpose.js';
import { isFrozen, type ContainerSession, type WorkerView } from './worker-view.js';
import type { WorkerPhase } from '../worker.js';

export interface WorkerCondition {
  readonly phase: WorkerPhase;
  /** Why, for people; empty when there is nothing to say. */
  readonly reason: string;
}

/** Shown where a person may wonder why an idle worker uses no processor. */
const PAUSED_REASON = 'paused (flashboot)';

/** The SDK has been heard of, or a job that an earlier life of the agent delivered still runs. */
export const isSessionReady = (session: ContainerSession): boolean =>
  session.readyAtMs !== null || session.runningJobs > 0;

/** What a worker is doing, as its agent reports it. */
export function conditionOf(view: WorkerView, purpose: WorkerPurpose, nowMs: number): WorkerCondition {
  const { container, session } = view;
  if (container.kind === 'absent' && session === null) return absentCondition(view, purpose, nowMs);
  if (purpose === 'leave') return { phase: 'draining', reason: 'told to leave' };
  if (purpose === 'replace') {
    return { phase: 'draining', reason: replaceReason(view, nowMs) ?? otherReplaceReason(view, nowMs) };
  }
  return container.kind === 'running' ? withFault(runningCondition(view), view) : startCondition(view, nowMs);
}

/** Of a container that goes by no rule of its own life. A reader who is told of a request looks for who has made it. */
function otherReplaceReason(view: WorkerView, nowMs: number): string {
  const { container, desired, journal, session } = view;
  if (session?.killReason != null) return session.killReason;
  const generation = desired?.generation ?? journal.generation;
  if (generation > journal.generation) return 'restarted on request';
  // Such as one that was set back to a backup.
  if (generation < journal.generation || session === null) return 'the control plane counts its restarts anew';
  const isThere = container.kind === 'running' && container.containerId === session.containerId;
  return isThere ? 'it was leaving when it was wanted again' : sessionEndReason(view, session, nowMs);
}

/** What runs, runs; that it could not be started anew is to be seen before it has to be. */
function withFault({ phase, reason }: WorkerCondition, { desired }: WorkerView): WorkerCondition {
  const fault = desired?.unstartable;
  if (fault === undefined) return { phase, reason };
  return { phase, reason: [reason, `it cannot be started anew: ${fault}`].filter((each) => each !== '').join('; ') };
}

function runningCondition(view: WorkerView): WorkerCondition {
  const { session, journal } = view;
  if (isFrozen(view)) return hopeful('paused', PAUSED_REASON, journal);
  const sick = session === null ? null : sickCondition(session);
  if (sick !== null) return hopeful(sick.phase, sick.reason, journal);
  if (session !== null && isSessionReady(session)) {
    const phase = session.runningJobs > 0 ? 'busy' : 'idle';
    if (session.killReason !== null) return { phase, reason: session.killReason };
    return hopeful(phase, pauseFault(view, session), journal);
  }
  if (isUnhealthy(journal)) return failingCondition('unhealthy', journal);
  return hopeful('starting', startingReason(session), journal);
}

function startingReason(session: ContainerSession | null): string {
  if (session?.health === undefined) return 'the worker has not asked for a job yet';
  const { words } = session.health;
  return `no health check has succeeded yet${words === '' ? '' : `: ${words}`}`;
}

/** Of a worker that has been up: its requests may go on, and it gets no new ones. */
function sickCondition({ health, readyAtMs }: ContainerSession): WorkerCondition | null {
  if (health === undefined || readyAtMs === null) return null;
  if (health.standing === 'out') return { phase: 'unhealthy', reason: health.words };
  return health.standing === 'initializing' ? { phase: 'starting', reason: health.words } : null;
}

/** Why a worker that was to be paused is not. */
const pauseFault = ({ desired }: WorkerView, { pauseFailure = null }: ContainerSession): string =>
  desired?.intent === 'paused' && pauseFailure !== null ? `it could not be paused: ${pauseFailure.reason}` : '';

function absentCondition(view: WorkerView, purpose: WorkerPurpose, nowMs: number): WorkerCondition {
  if (unwantedLeftover(view, purpose) !== null) return { phase: 'draining', reason: 'it never began' };
  if (purpose === 'leave' || (purpose === 'hold' && view.isSynced)) return { phase: 'removed', reason: '' };
  if (purpose === 'hold') return { phase: 'waiting', reason: 'the control plane has not said yet what is wanted' };
  return startCondition(view, nowMs);
}

function startCondition(view: WorkerView, nowMs: number): WorkerCondition {
  const { desired, heldUpBy, imagePercent, journal, preparation } = view;
  const heldUp = heldUpBy === undefined ? '' : `; ${heldUpBy}`;
  if (desired?.unstartable !== undefined) return hopeful('waiting', desired.unstartable, journal);
  // A start of its own may be under way, with another trouble than the last one had.
  if (isUnhealthy(journal)) return { phase: 'unhealthy', reason: `${describeFailures(journal)}${heldUp}` };
  if (nowMs < nextStartAtMs(journal)) return failingCondition('waiting', journal);
  if (preparation === 'done') return hopeful('starting', `the container is being started${heldUp}`, journal);
  const isPulling = imagePercent !== undefined;
  const reason = isPulling ? `the image is being pulled, ${imagePercent} %` : 'the image is being prepared';
  return hopeful('preparing', `${reason}${heldUp}`, journal);
}

const isUnhealthy = (journal: WorkerJournal): boolean => journal.failedStarts >= UNHEALTHY_AFTER_FAILURES;

const failingCondition = (phase: WorkerPhase, journal: WorkerJournal): WorkerCondition => ({
  phase,
  reason: describeFailures(journal),
});

/** The worker is on its way or well again; how its last start ended is told until the failures are forgotten. */
function hopeful(phase: WorkerPhase, reason: string, journal: WorkerJournal): WorkerCondition {
  if (journal.lastFailure === null) return { phase, reason };
  const before = `before: ${describeFailures(journal)}`;
  return { phase, reason: reason === '' ? before : `${reason}; ${before}` };
}

const describeFailures = ({ failedStarts, lastFailure }: WorkerJournal): string =>
  `${failedStarts} failed ${failedStarts === 1 ? 'start' : 'starts in a row'}: ${lastFailure?.reason ?? 'unknown'}`;
