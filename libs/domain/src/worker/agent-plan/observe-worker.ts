import { cleanText } from '../../text/index.js';
import { idleSinceMs } from '../idle-time.js';
import type { WorkerCondition } from './worker-condition.js';
import type { ContainerState, WorkerView } from './worker-view.js';
import { nextStartAtMs } from './worker-journal.js';
import { WORKER_REASON_CHARACTERS_MAX, type ObservedWorker } from '../worker.js';

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
    phase: condition.phase,
    reason: cleanText(condition.reason, WORKER_REASON_CHARACTERS_MAX),
    runningJobs: session?.runningJobs ?? 0,
    failedStarts: journal.failedStarts,
    phaseSinceMs: isSamePhase ? previous.phaseSinceMs : nowMs,
    ...containerFacts(container),
    ...(condition.phase === 'preparing' && view.imagePercent !== undefined ? { imagePercent: view.imagePercent } : {}),
    ...lastFailureOf(view, nowMs),
    ...roomOf(view, condition),
    ...lastJobOf(view),
    ...notesOf(view),
    ...view.desired?.ports,
  };
}

function containerFacts(container: ContainerState): Pick<ObservedWorker, 'startedAtMs' | 'imageDigest'> {
  if (container.kind !== 'running') return { startedAtMs: null };
  const { imageDigest, startedAtMs } = container;
  return { startedAtMs, ...(imageDigest === undefined ? {} : { imageDigest }) };
}

const SECOND_MS = 1_000;

/** By the second, and never earlier than it was: jobs may end by the hundred, and each change is a report. */
function lastJobOf({ container, session }: WorkerView): Pick<ObservedWorker, 'lastJobEndedAtMs'> {
  const sinceMs = session === null || container.kind !== 'running' ? null : idleSinceMs(session);
  return sinceMs === null ? {} : { lastJobEndedAtMs: Math.ceil(sinceMs / SECOND_MS) * SECOND_MS };
}

/** How many notes one worker reports. */
export const WORKER_NOTES_MAX = 8;

function notesOf({ container }: WorkerView): Pick<ObservedWorker, 'notes'> {
  const notes = container.kind === 'running' ? (container.notes ?? []) : [];
  return notes.length === 0 ? {} : { notes: notes.slice(0, WORKER_NOTES_MAX) };
}

function lastFailureOf(
  { container, journal }: WorkerView,
  nowMs: number,
): Pick<ObservedWorker, 'failure' | 'nextStartAtMs'> {
  if (journal.lastFailure === null) return {};
  const delayedUntilMs = nextStartAtMs(journal);
  const isDelayed = container.kind !== 'running' && nowMs < delayedUntilMs;
  return { failure: journal.lastFailure.kind, ...(isDelayed ? { nextStartAtMs: delayedUntilMs } : {}) };
}

/**
 * Told while it stands: from the end of what ran to the next start, however often they have failed. What is told of the
 * failure without it would count against the release.
 */
function roomOf({ container, journal }: WorkerView, { phase }: WorkerCondition): Pick<ObservedWorker, 'lacksRoom'> {
  const isOver = phase === 'waiting' || phase === 'unhealthy' || (phase === 'draining' && container.kind !== 'running');
  return isOver && journal.lastFailure?.lacksRoom === true ? { lacksRoom: true } : {};
}

export interface ObservationParts {
  readonly view: WorkerView;
  readonly condition: WorkerCondition;
  readonly previous: ObservedWorker | null;
}
