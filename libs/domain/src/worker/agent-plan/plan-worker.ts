import { findCutOff } from './find-cut-off.js';
import { findSickness } from './find-sickness.js';
import { lingersUntilMs } from '../idle-time.js';
import { initTimeoutReason, planContainerEnd } from './plan-container-end.js';
import { planDrain } from './plan-drain.js';
import { pausesAtMs, planPause } from './plan-pause.js';
import { STABLE_AFTER_MS } from './start-backoff.js';
import { conditionOf, isSessionReady, type WorkerCondition } from './worker-condition.js';
import { newJournal, nextStartAtMs, type WorkerJournal } from './worker-journal.js';
import { killStep, waitUntil, type WorkerOperation } from './worker-operation.js';
import { purposeOf, strayUntilMs, unwantedLeftover, type WorkerPurpose } from './worker-purpose.js';
import { isFrozen, type ContainerSession, type WorkerView } from './worker-view.js';

export interface WorkerPlan {
  readonly operation: WorkerOperation;
  /** What to report until the operation has had its effect. */
  readonly condition: WorkerCondition;
}

/**
 * The one next step that brings a worker closer to what is desired. The shell reports the condition, applies the step,
 * observes and plans again, until the step is to wait. A step whose effect is there already is not planned again, so an
 * agent may stop and resume anywhere.
 */
export function planWorker(view: WorkerView, nowMs: number): WorkerPlan {
  const purpose = purposeOf(view, nowMs);
  return { operation: nextOperation(view, purpose, nowMs), condition: conditionOf(view, purpose, nowMs) };
}

function nextOperation(view: WorkerView, purpose: WorkerPurpose, nowMs: number): WorkerOperation {
  const { container, session } = view;
  if (container.kind === 'absent' && session === null) return planAbsent(view, purpose, nowMs);
  if (session === null) return { kind: 'adopt' };
  if (container.kind !== 'running' || container.containerId !== session.containerId) {
    return planContainerEnd(view, session, nowMs);
  }
  const journal = withWish(view, nowMs);
  if (journal !== view.journal) return { kind: 'write-journal', journal };
  // A job that does not let go must not run on because nobody has said yet what becomes of its worker.
  if (session.killReason !== null) return killStep(session, session.killReason, nowMs);
  if (purpose === 'hold') return waitUntil(strayUntilMs(view));
  return purpose === 'keep' ? planKept(view, session, nowMs) : planDrain(view.desired, session, nowMs);
}

/** Does not wait beyond the instant from which the worker would count as cut off, or has been idle for long enough. */
function planKept(view: WorkerView, session: ContainerSession, nowMs: number): WorkerOperation {
  const operation = planPause(view, session, nowMs) ?? planAwake(view, session, nowMs);
  if (operation.kind !== 'wait-until') return operation;
  const idleUntilMs = view.desired?.intent === 'paused' ? nextPauseAtMs(view, session) : lingersUntilMs(view);
  const instants = [operation.untilMs, findCutOff(view)?.fromMs, findSickness(view)?.fromMs, idleUntilMs];
  const earliestMs = Math.min(...instants.map((instant) => instant ?? Number.POSITIVE_INFINITY));
  return waitUntil(Number.isFinite(earliestMs) ? earliestMs : null);
}

const planAwake = (view: WorkerView, session: ContainerSession, nowMs: number): WorkerOperation =>
  isFrozen(view) ? waitUntil(null) : planRunning(view, session, nowMs);

const nextPauseAtMs = (view: WorkerView, session: ContainerSession): number | null =>
  isFrozen(view) ? null : pausesAtMs(view, session);

/** The journal with since when the worker is unwanted; the same object when it says so already. */
function withWish({ desired, isSynced, journal }: WorkerView, nowMs: number): WorkerJournal {
  if (desired !== null) return journal.unwantedSinceMs === null ? journal : { ...journal, unwantedSinceMs: null };
  return isSynced && journal.unwantedSinceMs === null ? { ...journal, unwantedSinceMs: nowMs } : journal;
}

function planAbsent(view: WorkerView, purpose: WorkerPurpose, nowMs: number): WorkerOperation {
  const { desired, isSynced, journal, preparation } = view;
  const leftoverId = unwantedLeftover(view, purpose);
  if (leftoverId !== null) return { kind: 'remove', containerId: leftoverId };
  if (desired === null) return isSynced ? { kind: 'forget' } : waitUntil(null);
  if (purpose === 'leave' || desired.unstartable !== undefined) return waitUntil(null);
  if (journal.generation !== desired.generation) {
    return { kind: 'write-journal', journal: newJournal(desired.generation) };
  }
  const startAtMs = nextStartAtMs(journal);
  if (nowMs < startAtMs) return waitUntil(startAtMs);
  if (preparation === 'none') return { kind: 'prepare' };
  return preparation === 'done' ? { kind: 'start' } : waitUntil(null);
}

function planRunning({ desired, journal }: WorkerView, session: ContainerSession, nowMs: number): WorkerOperation {
  if (!isSessionReady(session)) {
    const deadlineMs = session.openedAtMs + (desired?.initTimeoutMs ?? 0);
    return nowMs < deadlineMs ? waitUntil(deadlineMs) : killStep(session, initTimeoutReason(session), nowMs);
  }
  if (journal.failedStarts === 0 || session.readyAtMs === null) return waitUntil(null);
  const stableAtMs = session.readyAtMs + STABLE_AFTER_MS;
  if (nowMs < stableAtMs && session.finishedJobs === 0) return waitUntil(stableAtMs);
  return { kind: 'write-journal', journal: { ...journal, failedStarts: 0, lastFailure: null } };
}
