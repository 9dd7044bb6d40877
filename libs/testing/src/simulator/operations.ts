import {
  cancel,
  finishAttempt,
  giveUpAttempt,
  mendTicket,
  purgeQueue,
  reapAttempt,
  renewLease,
  replaceJobLife,
  retry,
  settleStopped,
  submitJob,
  takeTicket,
  timeOut,
} from '@berth/jobs';

/** The code under test: the operations of a job's life. A test may put a doctored one in its place. */
export interface Operations {
  readonly submitJob: typeof submitJob;
  readonly takeTicket: typeof takeTicket;
  readonly renewLease: typeof renewLease;
  readonly finishAttempt: typeof finishAttempt;
  readonly giveUpAttempt: typeof giveUpAttempt;
  readonly reapAttempt: typeof reapAttempt;
  readonly cancel: typeof cancel;
  readonly mendTicket: typeof mendTicket;
  readonly timeOut: typeof timeOut;
  readonly retry: typeof retry;
  readonly purgeQueue: typeof purgeQueue;
  readonly replaceJobLife: typeof replaceJobLife;
  readonly settleStopped: typeof settleStopped;
}

export const REAL_OPERATIONS: Operations = {
  submitJob,
  takeTicket,
  renewLease,
  finishAttempt,
  giveUpAttempt,
  reapAttempt,
  cancel,
  mendTicket,
  timeOut,
  retry,
  purgeQueue,
  replaceJobLife,
  settleStopped,
};
