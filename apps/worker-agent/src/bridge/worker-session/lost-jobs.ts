import type { StopReason } from '../../job-client/index.js';
import type { BridgeEvent } from '../bridge.port.js';
import type { HeldJob } from './held-jobs.js';

export type JobOutcome = (BridgeEvent & { kind: 'job-ended' })['outcome'];

/** By which sign a worker was seen to have a job no longer, and what the job's history says of it. */
export const LOSS = {
  idle: 'the worker no longer knew the job',
  ping: 'the worker no longer knew the job',
  silence: 'the worker stopped answering',
  unheard: 'its worker never said that it had the job',
  away: 'the worker no longer knew the job after its agent had been away',
} as const;

export const SIBLING_KILLED = 'its worker was killed to stop another job';

export const outcomeOfStop = (reason: StopReason): JobOutcome => (reason === 'timed-out' ? 'timed-out' : 'stopped');

export type LossSign = keyof typeof LOSS;

/**
 * A handler that keeps even the pings of its worker back looks like a worker that never read the job, each time; and what
 * ends the agent each time may be the job.
 */
const FREE_ATTEMPTS = 3;

/** What is said of a job that its worker has lost, by `seenBy`, and whether that costs the job one of its attempts. */
export function lossOf(
  { attempt, isAdopted }: HeldJob,
  seenBy: LossSign,
): { readonly sign: LossSign; readonly reason: string; readonly isCharged: boolean } {
  // Its worker may have posted the result while this agent was not there, and does not post it again.
  const sign = isAdopted && (seenBy === 'idle' || seenBy === 'ping') ? 'away' : seenBy;
  const isNobodysFault = sign === 'unheard' || sign === 'away';
  return { sign, reason: LOSS[sign], isCharged: !isNobodysFault || attempt.ref.attempt > FREE_ATTEMPTS };
}
