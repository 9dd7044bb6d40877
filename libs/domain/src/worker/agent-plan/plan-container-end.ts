import { diedSick } from './find-sickness.js';
import { withContainerEnd } from './worker-journal.js';
import type { WorkerOperation } from './worker-operation.js';
import type { ContainerSession, WorkerView } from './worker-view.js';

const INIT_TIMEOUT_REASON = 'the worker was not ready within its initialization time';

/** Said of a container that was killed because it never became ready. */
export const initTimeoutReason = ({ health }: ContainerSession): string =>
  health === undefined || health.words === '' ? INIT_TIMEOUT_REASON : `${INIT_TIMEOUT_REASON}: ${health.words}`;

/** The next step after a session's container exited or vanished: settle its jobs, count its end, take it away. */
export function planContainerEnd(view: WorkerView, session: ContainerSession, nowMs: number): WorkerOperation {
  const { containerId } = session;
  const exited = exitOf(view, session);
  const sickness = diedSick(session, nowMs);
  const reason = sessionEndReason(view, session, nowMs);
  const isEvicted = (exited === null ? view.isTakenAwayWhenGone : exited.isEvicted) === true;
  const isOurDoing = sickness === null && (session.stoppedAtMs !== null || session.killReason !== null);
  if (session.runningJobs > 0) {
    const isOwnFault = !isOurDoing && session.killedAtMs === null && !isEvicted;
    return { kind: 'give-back-jobs', isCharged: isOwnFault, reason };
  }
  if (view.journal.countedContainerId === containerId) return { kind: 'remove', containerId };
  // One that was evicted waits before its next start, told to leave or not: its host may be short of something.
  const end = { ...livedOf(session, nowMs), isEvicted, isExpected: isOurDoing && !isEvicted, ...told(exited, reason) };
  return { kind: 'write-journal', journal: withContainerEnd(view.journal, end, nowMs) };
}

/** Why the container of a session is there no longer, for people. */
export const sessionEndReason = (view: WorkerView, session: ContainerSession, nowMs: number): string =>
  diedSick(session, nowMs) ?? endReason(exitOf(view, session), session);

const livedOf = ({ containerId, finishedJobs, readyAtMs }: ContainerSession, nowMs: number) => ({
  ...{ containerId, finishedJobs },
  readyForMs: readyAtMs === null ? null : nowMs - readyAtMs,
});

interface Exit {
  readonly exitCode: number | null;
  readonly reason: string;
  readonly lastOutput?: string;
  readonly isEvicted?: boolean;
}

/** A failed start is shown with what was written last; the history of a job has that beside its reason. */
function told(exit: Exit | null, reason: string): Pick<Exit, 'exitCode' | 'reason'> {
  const output = exit?.lastOutput ?? '';
  return { exitCode: exit?.exitCode ?? null, reason: output === '' ? reason : `${reason}; last output: ${output}` };
}

/** Null when the container is not there to be asked. */
const exitOf = ({ container }: WorkerView, { containerId }: ContainerSession): Exit | null =>
  container.kind === 'exited' && container.containerId === containerId ? container : null;

function endReason(exit: Exit | null, session: ContainerSession): string {
  if (session.killReason !== null) return session.killReason;
  if (session.readyAtMs === null && session.stoppedAtMs === null && session.killedAtMs !== null) {
    return session.killedBecause ?? initTimeoutReason(session);
  }
  return exit === null ? 'the container vanished' : exitReason(exit);
}

function exitReason({ exitCode, isEvicted, reason }: Exit): string {
  // A code that nobody has seen would be told as if the program had failed.
  if (isEvicted === true && exitCode === null && reason !== '') return reason;
  const code = exitCode === null ? 'an unknown code' : `code ${exitCode}`;
  return `worker exited with ${code}${reason === '' ? '' : `: ${reason}`}`;
}
