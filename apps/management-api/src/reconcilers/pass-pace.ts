/** Passes of which no more is known than what follows from them for the next. Times are monotonic ms. */
export interface PassPace {
  /** When the last pass ended. */
  readonly endedAtMs: number;
  /** Quiet that was owed then. */
  readonly owedMs: number;
}

export interface PassTimes {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** What one pass owes: as much quiet as it took, within these bounds. */
const OWED_MIN_MS = 50;
const OWED_MAX_MS = 500;
/** So much may be owed: after quiet a few passes follow each other at once, and no job waits for a pass that came before it. */
const OWED_FREE_MS = 150;

/**
 * Hints come with every job, and a pass reads the whole fleet: each pass owes as much quiet as it took, so that hints alone
 * never keep the database busy all the time.
 */
export function paceAfter(before: PassPace | null, { endedAtMs, startedAtMs }: PassTimes): PassPace {
  const quietMs = before === null ? 0 : Math.max(0, startedAtMs - before.endedAtMs);
  const leftMs = Math.max(0, (before?.owedMs ?? 0) - quietMs);
  const tookMs = endedAtMs - startedAtMs;
  return { endedAtMs, owedMs: leftMs + Math.min(OWED_MAX_MS, Math.max(OWED_MIN_MS, tookMs)) };
}

/** How long no pass may begin. */
export const quietAfterMs = ({ owedMs }: PassPace): number => Math.max(0, owedMs - OWED_FREE_MS);
