/** What one answer of a host about logs had. */
export interface AnswerNews {
  /** There was something to tell the reader. */
  readonly hasNews: boolean;
  /** A worker that is followed is not known there yet. */
  readonly isUnknown: boolean;
}

/** A host holds a question while it has nothing to tell; one that does not is asked no more often than this. */
const QUIET_PACE_MS = 1_000;
/** Far below what a person notices, and an answer may have many lines: one line after the other costs no more than this. */
const NEWS_PACE_MS = 10;

/**
 * How long after a question to a host began the next one may begin at the earliest. What is not worth waiting for is told
 * by the host, which may be faulty or hostile, so even news is no reason to ask without end.
 */
export const paceOf = ({ hasNews, isUnknown }: AnswerNews): number =>
  hasNews && !isUnknown ? NEWS_PACE_MS : QUIET_PACE_MS;
