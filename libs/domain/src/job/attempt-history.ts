import type { AttemptPlace, AttemptRecord } from './attempt.js';

/** Uncharged attempts are not bounded by number, so the history is: the newest are kept. */
const HISTORY_MAX = 32;

/** The log tail of an attempt lies in the endpoint's log, where it must stay small. */
export const LOG_TAIL_LINES_MAX = 20;
export const LOG_TAIL_CHARACTERS_MAX = 500;
/** Only the newest attempts keep theirs. */
const LOG_TAILS_MAX = 3;

interface AttemptedJob {
  readonly attempt: number;
  readonly current: AttemptPlace | null;
  readonly history: readonly AttemptRecord[];
}

interface EndedAttempt {
  readonly outcome: AttemptRecord['outcome'];
  readonly reason: string;
  readonly logTail?: readonly string[] | undefined;
  readonly nowMs: number;
}

/**
 * The history with the word that the worker of its last attempt has let go. The log tail comes with that word, because
 * the worker may write until then.
 */
export function withStop(
  history: readonly AttemptRecord[],
  { stoppedAtMs, logTail = [] }: { readonly stoppedAtMs: number; readonly logTail?: readonly string[] | undefined },
): readonly AttemptRecord[] {
  const last = history.at(-1);
  if (last === undefined) return history;
  return withNewestTails([...history.slice(0, -1), { ...last, stoppedAtMs, logTail: boundedTail(logTail) }]);
}

/** The job's history with its present attempt as the last that is over; as it was where no attempt is under way. */
export function withAttempt(
  { attempt, current, history }: AttemptedJob,
  { outcome, reason, logTail = [], nowMs }: EndedAttempt,
): readonly AttemptRecord[] {
  if (current === null) return history;
  const { hostId, workerId, startedAtMs } = current;
  const over: AttemptRecord = {
    attempt,
    hostId,
    workerId,
    startedAtMs,
    endedAtMs: nowMs,
    outcome,
    reason,
    stoppedAtMs: null,
    logTail: boundedTail(logTail),
  };
  return withNewestTails([...history, over].slice(-HISTORY_MAX));
}

const boundedTail = (lines: readonly string[]): readonly string[] =>
  lines.slice(-LOG_TAIL_LINES_MAX).map((line) => line.slice(0, LOG_TAIL_CHARACTERS_MAX));

const withNewestTails = (history: readonly AttemptRecord[]): readonly AttemptRecord[] =>
  history.map((each, order) =>
    order >= history.length - LOG_TAILS_MAX || each.logTail.length === 0 ? each : { ...each, logTail: [] },
  );
