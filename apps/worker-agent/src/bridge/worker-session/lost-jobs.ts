import type { Attempt, StopReason } from '../../job-client/index.js';
import type { BridgeEvent } from '../bridge.port.js';

export type JobOutcome = (BridgeEvent & { kind: 'job-ended' })['outcome'];

/** By which sign a worker was seen to have a job no longer, and what the job's history says of it. */
export const LOSS = {
  idle: 'the worker no longer knew the job',
  ping: 'the worker no longer knew the job',
  silence: 'the worker stopped answering',
  unheard: 'its worker never said that it had the job',
} as const;

export const SIBLING_KILLED = 'its worker was killed to stop another job';

export const outcomeOfStop = (reason: StopReason): JobOutcome => (reason === 'timed-out' ? 'timed-out' : 'stopped');

/** A handler that keeps even the pings of its worker back looks like a worker that never read the job, each time. */
const UNHEARD_FREE_ATTEMPTS = 3;

/** Whether a loss costs the job one of its attempts: one that its worker never spoke of does not, a few times. */
export const isLossCharged = ({ ref }: Attempt, sign: keyof typeof LOSS): boolean =>
  sign !== 'unheard' || ref.attempt > UNHEARD_FREE_ATTEMPTS;
