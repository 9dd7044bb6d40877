import type { JobState } from '../job/index.js';
import { REASON_MAX_BYTES } from './bounds.js';
import type { CancelledFact, FinishedFact, LostFact, Requeueing, TimedOutFact } from './facts.js';
import { boundedText } from './text-bytes.js';

type JobEndFact =
  | Pick<FinishedFact, 'kind' | 'state' | 'error' | 'logTail'>
  | Pick<CancelledFact, 'kind'>
  | Pick<TimedOutFact, 'kind' | 'error'>;

type AttemptLost = Pick<LostFact, 'kind' | 'reason' | 'next' | 'error' | 'logTail'>;

interface Told {
  readonly error: string | null;
  readonly reason: string;
  readonly logTail: readonly string[];
}

/** How a job ended, as callers and the history are told. */
export interface JobEnding extends Told {
  readonly outcome: Extract<JobState, 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TIMED_OUT'>;
}

/** How an attempt ended whose job waits again. */
export interface AttemptEnding extends Told {
  readonly outcome: 'lost';
  readonly next: Requeueing;
}

const NO_LINES: readonly string[] = [];

export function endingOf(fact: JobEndFact): JobEnding;
export function endingOf(fact: JobEndFact | AttemptLost): JobEnding | AttemptEnding;
export function endingOf(fact: JobEndFact | AttemptLost): JobEnding | AttemptEnding {
  switch (fact.kind) {
    case 'finished': {
      const { error, logTail, state } = fact;
      return { outcome: state, error, reason: boundedText(error ?? state, REASON_MAX_BYTES), logTail };
    }
    case 'cancelled':
      return { outcome: 'CANCELLED', error: null, reason: 'CANCELLED', logTail: NO_LINES };
    case 'timed-out':
      return { outcome: 'TIMED_OUT', error: fact.error, reason: fact.error, logTail: NO_LINES };
    case 'lost': {
      const { error, logTail, next, reason } = fact;
      const told = { error, reason, logTail };
      return next === null ? { outcome: 'FAILED', ...told } : { outcome: 'lost', next, ...told };
    }
    default:
      return fact satisfies never;
  }
}
