import { INLINE_INPUT_MAX_BYTES } from '../../job/index.js';
import { OUTPUT_MAX_BYTES } from '../bounds.js';
import type { JobData } from '../job-data.js';
import { deliveryName, type EndpointState, type LivingJob } from '../state.js';
import type { Leftovers, TouchedJob } from './touched-job.js';

const isBeside = (outputBytes: number): boolean => outputBytes > OUTPUT_MAX_BYTES;

/** Whether anything of the job can lie beside the log. An attempt that did not end by its own word may have left something. */
const mayLeave = ({ attempt, bodyBytes, chunks, current, outputBytes, state }: JobData): boolean => {
  const hasEndedItself = current === null || state === 'COMPLETED' || state === 'FAILED';
  return bodyBytes > INLINE_INPUT_MAX_BYTES || isBeside(outputBytes) || chunks > 0 || attempt > 1 || !hasEndedItself;
};

/** The news of an end stays, with its payloads, until it has been told. */
const isUntold = ({ deliveries }: EndpointState, { attempt, jobId }: Pick<JobData, 'attempt' | 'jobId'>): boolean =>
  deliveries.has(deliveryName(jobId, attempt));

/** Of a job that goes. Where somebody is still to be told of an end of it, all goes when that is over. */
export function leftByJob(state: EndpointState, { data }: LivingJob): Leftovers | null {
  if (!mayLeave(data)) return null;
  for (let attempt = data.webhook === null ? 0 : data.attempt; attempt > 0; attempt -= 1) {
    if (isUntold(state, { ...data, attempt })) return null;
  }
  return { of: 'job' };
}

/** Of an attempt that another one follows. How much it streamed is known of few that ran, and whether it stored an output. */
export function leftByAttempt(state: EndpointState, { data }: LivingJob): Leftovers | null {
  const { attempt, current, outputBytes } = data;
  if (current === null) return null;
  return { of: 'attempt', attempt, hasChunks: true, hasOutput: !(isBeside(outputBytes) && isUntold(state, data)) };
}

/** Of the progress that the attempt showed, where its end shows something else. */
export function leftByProgress({ data: { attempt, outputBytes } }: LivingJob, endBytes: number): Leftovers | null {
  if (!isBeside(outputBytes) || isBeside(endBytes)) return null;
  return { of: 'attempt', attempt, hasChunks: false, hasOutput: true };
}

/** When the last that had to be told of an end of the job has been, and the job has gone or begun anew meanwhile. */
export function leftByTold(state: EndpointState, told: JobData): readonly TouchedJob[] {
  const { attempt, jobId, outputBytes } = told;
  const job = state.jobs.get(jobId);
  if (job === undefined) {
    const isOver = mayLeave(told) && ![...state.deliveries.values()].some(({ data }) => data.jobId === jobId);
    return isOver ? [{ jobId, now: 'gone', stop: null, leftovers: { of: 'job' } }] : [];
  }
  if (job.data.attempt === attempt || !isBeside(outputBytes)) return [];
  const leftovers = { of: 'attempt', attempt, hasChunks: false, hasOutput: true } as const;
  return [{ jobId, now: 'moved', stop: null, leftovers }];
}
