import { isFrozen, type ContainerSession, type WorkerView } from './worker-view.js';

/** A worker that was found again, is ready and has no job in hand has called its bridge by then: SDKs poll without end. */
const ADOPTED_SILENCE_MS = 60_000;

/**
 * From the end of a poll to the next one. SDKs ask again at once, after an error or a refusal within five seconds. A
 * process that stands still keeps its connection, so this shows only when the poll that it holds has come to its end.
 */
const NOT_ASKING_MS = 25_000;

const MOVED = 'the address of the bridge has changed since the worker was started';
const SILENT = 'the worker has not called the bridge since its agent was restarted';
const NOT_ASKING = 'the worker has no job and has stopped asking for one';

/** That a worker's requests do not reach this agent: such a worker would stay idle for ever while its jobs wait. */
interface CutOff {
  /** The instant from which it counts. */
  readonly fromMs: number;
  /** For people. */
  readonly reason: string;
}

/**
 * Null while nothing speaks for it. One that is paused is silent by our own hand; a load-balanced worker calls nobody, one with a job in hand may be silent until it
 * has finished, and one that was never ready is judged by its initialization time.
 */
export function findCutOff(view: WorkerView): CutOff | null {
  const { desired, session } = view;
  if (session === null || desired?.endpointType !== 'QUEUE') return null;
  if (!session.knowsBridge) return { fromMs: session.openedAtMs, reason: MOVED };
  if (isFrozen(view) || (session.heldAtMs ?? null) !== null) return null;
  return session.readyAtMs === null || session.runningJobs > 0 ? null : findSilence(session);
}

/** Of a worker that could take a job. One that was found again first has to notice that its agent is back. */
function findSilence(session: ContainerSession): CutOff | null {
  const { hasCalled, isAdopted, notAskingSinceMs = null } = session;
  // While it was paused it could notice nothing.
  const awakeSinceMs = Math.max(session.openedAtMs, session.resumedAtMs ?? 0);
  const patientUntilMs = isAdopted ? awakeSinceMs + ADOPTED_SILENCE_MS : awakeSinceMs;
  if (isAdopted && !hasCalled) return { fromMs: patientUntilMs, reason: SILENT };
  if (notAskingSinceMs === null) return null;
  return { fromMs: Math.max(patientUntilMs, notAskingSinceMs + NOT_ASKING_MS), reason: NOT_ASKING };
}

/** Whether it had stopped asking for jobs before it was told to take no more: nothing of it is worth waiting for. */
export const stoodStill = ({ notAskingSinceMs = null, releasedAtMs }: ContainerSession): boolean =>
  notAskingSinceMs !== null && releasedAtMs !== null && releasedAtMs - notAskingSinceMs >= NOT_ASKING_MS;

/** Whether a job that it finishes will be heard of. An address that has changed may still lead here. */
export const canReport = ({ knowsBridge, hasCalled }: ContainerSession): boolean => knowsBridge || hasCalled;
