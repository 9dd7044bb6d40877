import { EXECUTION_TIMEOUT_ERROR } from '../../job/index.js';
import { SLICE_MAX } from '../bounds.js';
import type { CommandDecision, LookCommand } from '../commands.js';
import type { LostFact, TimedOutFact } from '../facts.js';
import { overdueAtMs, type EndpointState, type LivingJob } from '../state.js';
import { lose, WORKER_LOST } from './decide-holder.js';
import { again, decided, summaryOf } from './outcome.js';

/** Spreads one number of chance over many: the step is the golden section, so no two fall together. */
const GOLDEN = 0.618_033_988_749_895;

/**
 * Decides about the things that time has brought about among running jobs, in slices. Lives that are over went before.
 */
export function decideLook(state: EndpointState, command: LookCommand, atMs: number): CommandDecision {
  const running = state.running.due(atMs, SLICE_MAX);
  if (running.length > 0) {
    return again(...running.map((job, at) => giveUp(state, job, { atMs, at, fraction: command.fraction })));
  }
  return decided({ kind: 'looked' });
}

interface Look {
  readonly atMs: number;
  /** Which of those that are due at one time. */
  readonly at: number;
  readonly fraction: number;
}

/** A job whose time is over has timed out, whether or not its host still renews. */
function giveUp(state: EndpointState, { data }: LivingJob, { at, atMs, fraction }: Look): LostFact | TimedOutFact {
  const { attempt, jobId } = data;
  if (overdueAtMs(data) <= atMs) {
    return { kind: 'timed-out', atMs, jobId, attempt, error: EXECUTION_TIMEOUT_ERROR, summary: summaryOf(data) };
  }
  const chance = (fraction + at * GOLDEN) % 1;
  return lose(state, data, { atMs, fault: 'silent', reason: WORKER_LOST, logTail: [], fraction: chance, ahead: at });
}
