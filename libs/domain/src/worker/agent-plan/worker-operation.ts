import type { WorkerJournal } from './worker-journal.js';
import type { ContainerSession } from './worker-view.js';

/** One step of an agent for one worker. Each may be repeated: what is done already counts as success. */
export type WorkerOperation =
  /** Pull the image or set up the folder, in the background. A failure goes into the journal by `withStartFailure`. */
  | { readonly kind: 'prepare' }
  /** Create and start the container and open its session. A failure goes into the journal by `withStartFailure`. */
  | { readonly kind: 'start' }
  /** Open the session of a container that an earlier life of the agent started, with what was delivered to it. */
  | { readonly kind: 'adopt' }
  /** Deliver no more jobs: answer the parked take and stop polls with 204 and hold new ones. */
  | { readonly kind: 'release-parked-polls' }
  /** Deliver no job for now: answer the parked polls with 204, and hold new ones until the worker goes on or leaves. */
  | { readonly kind: 'hold-polls' }
  /** Freeze the container. A failure is noted in the session as `pauseFailure`. */
  | { readonly kind: 'pause' }
  /** Let the container go on, if it is frozen; then deliver jobs to polls that it makes from now on. */
  | { readonly kind: 'resume' }
  /** SIGTERM. From then on polls are answered at once, so that the worker need not wait for a held one. */
  | { readonly kind: 'stop' }
  /** SIGKILL. */
  | { readonly kind: 'kill'; readonly reason: string }
  /** Queue again every job that was delivered and not finished. `isCharged`: it costs the job one of its attempts. */
  | { readonly kind: 'give-back-jobs'; readonly isCharged: boolean; readonly reason: string }
  /** Remove the container until it is gone, and close its session, if it has one. */
  | { readonly kind: 'remove'; readonly containerId: string }
  | { readonly kind: 'write-journal'; readonly journal: WorkerJournal }
  /** Delete the journal: nothing is left and nobody asks for it. */
  | { readonly kind: 'forget' }
  /** Plan again at this instant, or when something changes if that is earlier; null: only when something changes. */
  | { readonly kind: 'wait-until'; readonly untilMs: number | null };

export const waitUntil = (untilMs: number | null): WorkerOperation => ({ kind: 'wait-until', untilMs });

/** A kill that had no effect is repeated at this pace. */
const KILL_REPEAT_MS = 10_000;

export function killStep(session: ContainerSession, reason: string, nowMs: number): WorkerOperation {
  const nextKillAtMs = session.killedAtMs === null ? nowMs : session.killedAtMs + KILL_REPEAT_MS;
  return nowMs < nextKillAtMs ? waitUntil(nextKillAtMs) : { kind: 'kill', reason };
}
