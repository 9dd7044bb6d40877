import { findCutOff } from './find-cut-off.js';
import { findSickness } from './find-sickness.js';
import { lingersUntilMs } from '../idle-time.js';
import type { ContainerSession, WorkerView } from './worker-view.js';

/** A container that a complete list of desired workers does not name is left alone for this long, then drained. */
export const STRAY_GRACE_MS = 60_000;

/**
 * `keep` it running · make it `leave` · `replace` its container and keep the worker · `hold` still, because it is not
 * known yet, or not for long enough, what is wanted.
 */
export type WorkerPurpose = 'keep' | 'leave' | 'replace' | 'hold';

export function purposeOf(view: WorkerView, nowMs: number): WorkerPurpose {
  const { desired, session } = view;
  if (desired === null) return isReleased(session) || isStray(view, nowMs) ? 'leave' : 'hold';
  if (desired.intent === 'drained') return isKeptForNow(view, nowMs) ? 'keep' : 'leave';
  if (desired.intent === 'paused' && isThereNothing(view)) return 'leave';
  return isOutdated(view) || replaceReason(view, nowMs) !== null ? 'replace' : 'keep';
}

/** A restart was asked for, or its container has to go anyway. */
const isOutdated = ({ desired, journal, session }: WorkerView): boolean =>
  isReleased(session) || (desired !== null && journal.generation !== desired.generation);

/** Only what runs can be paused: nothing is started for that. */
const isThereNothing = ({ container, session }: WorkerView): boolean => container.kind === 'absent' && session === null;

/** What is there of a container that never ran, once nobody shall start it; nothing was in it that needs a grace. */
export function unwantedLeftover({ container, desired, isSynced }: WorkerView, purpose: WorkerPurpose): string | null {
  if (container.kind !== 'absent' || container.leftoverId === undefined) return null;
  const isUnwanted = desired === null ? isSynced : purpose === 'leave';
  return isUnwanted ? container.leftoverId : null;
}

/** Its last job ended a moment ago: who decided that it shall leave may not have heard of it. */
const isKeptForNow = (view: WorkerView, nowMs: number): boolean =>
  nowMs < (lingersUntilMs(view) ?? nowMs) && replaceReason(view, nowMs) === null;

/** What the container's own life gives as a reason to replace it; null while there is none. */
export function replaceReason(view: WorkerView, nowMs: number): string | null {
  return (
    view.session?.recycleReason ??
    takenAway(view) ??
    otherImage(view) ??
    sinceThen(findCutOff(view), nowMs) ??
    sinceThen(findSickness(view), nowMs)
  );
}

const sinceThen = (found: { readonly fromMs: number; readonly reason: string } | null, nowMs: number): string | null =>
  found !== null && nowMs >= found.fromMs ? found.reason : null;

/** A job that it got from now on would not be done: it has been told to end. */
const takenAway = ({ container }: WorkerView): string | null =>
  container.kind === 'running' && container.isTakenAway === true ? 'its host is being taken from it' : null;

/** Two hosts that began a release at once may have found its name to stand for two images: the first that was told counts. */
function otherImage({ container, desired }: WorkerView): string | null {
  if (desired?.imageDigest === undefined || container.kind !== 'running') return null;
  const { imageDigest } = container;
  return imageDigest === undefined || imageDigest === desired.imageDigest
    ? null
    : 'its release runs another image of that name';
}

/** A worker whose polls were released never gets a job again: whatever is wanted by now, its container has to go. */
const isReleased = (session: ContainerSession | null): boolean => session !== null && session.releasedAtMs !== null;

function isStray(view: WorkerView, nowMs: number): boolean {
  const leavesAtMs = strayUntilMs(view);
  return leavesAtMs !== null && nowMs >= leavesAtMs;
}

/** When an unwanted container's grace ends; null while nobody has said that it is unwanted. */
export const strayUntilMs = ({ desired, isSynced, journal }: WorkerView): number | null =>
  desired === null && isSynced && journal.unwantedSinceMs !== null ? journal.unwantedSinceMs + STRAY_GRACE_MS : null;
