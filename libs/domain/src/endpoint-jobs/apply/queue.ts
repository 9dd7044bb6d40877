import { jobTimes, isEnded } from '../../job/index.js';
import { REPEAT_KEPT_MS } from '../bounds.js';
import { laneOf, type EndpointState, type LivingJob } from '../state.js';
import { leftByJob } from './leftovers.js';
import type { StopOrder, TouchedJob } from './touched-job.js';

/** Lets a job wait, or keeps it aside while its delay runs. */
export function enqueue(state: EndpointState, job: LivingJob, atMs: number): void {
  const lane = laneOf(state, job.data);
  job.isReady = job.data.notBeforeMs <= atMs;
  if (job.isReady) lane.ready.add(job);
  else {
    lane.delayed.add(job);
    state.delays.put(job);
  }
}

export function dequeue(state: EndpointState, job: LivingJob): void {
  const lane = laneOf(state, job.data);
  (job.isReady ? lane.ready : lane.delayed).remove(job);
  state.delays.remove(job);
}

export function startRunning(state: EndpointState, job: LivingJob): void {
  state[job.data.isLowPriority ? 'runningLow' : 'runningNormal'] += 1;
  state.running.put(job);
}

function stopRunning(state: EndpointState, job: LivingJob): void {
  state[job.data.isLowPriority ? 'runningLow' : 'runningNormal'] -= 1;
  state.running.remove(job);
}

/** Takes a job out of whatever its state has put it into. */
export function unlist(state: EndpointState, job: LivingJob): void {
  if (job.data.state === 'IN_QUEUE') dequeue(state, job);
  if (job.data.state === 'IN_PROGRESS') stopRunning(state, job);
}

/** Lists a job by its state, as the facts before have left it. */
export function list(state: EndpointState, job: LivingJob, atMs: number): void {
  state.jobs.set(job.data.jobId, job);
  state.bySubmission.add(job);
  state.lives.put(job);
  state.livingBytes += job.data.bodyBytes + job.data.outputBytes;
  if (job.data.state === 'IN_QUEUE') enqueue(state, job, atMs);
  if (job.data.state === 'IN_PROGRESS') startRunning(state, job);
}

/** The job is gone; where its submission may come once more, its id is remembered for as long. */
export function remove(state: EndpointState, job: LivingJob, atMs: number): void {
  const { jobId, createdAtMs, bodyBytes, outputBytes } = job.data;
  unlist(state, job);
  state.jobs.delete(jobId);
  state.bySubmission.remove(job);
  state.lives.remove(job);
  state.whole.remove(job);
  state.livingBytes -= bodyBytes + outputBytes;
  if (atMs - createdAtMs < REPEAT_KEPT_MS) {
    state.gone.put({ name: jobId, untilMs: atMs + REPEAT_KEPT_MS, memoryIndex: -1 });
  }
}

export function setOutputBytes(state: EndpointState, job: LivingJob, bytes: number): void {
  state.livingBytes += bytes - job.data.outputBytes;
  job.data.outputBytes = bytes;
}

/** Null where nobody runs the job. */
export function stopOf(
  { data: { attempt, current, jobId, state } }: LivingJob,
  reason: StopOrder['reason'],
): StopOrder | null {
  if (current === null || state !== 'IN_PROGRESS') return null;
  return { hostId: current.hostId, jobId, attempt, token: current.token, reason };
}

export function keepPace(state: EndpointState, job: LivingJob, atMs: number): void {
  const executionMs = executionMsOf(job, atMs);
  if (executionMs !== null) state.pace.add(atMs, executionMs);
}

/** How long the attempt ran with which a job has ended; null: it has not, or none ran. */
export const executionMsOf = ({ data }: LivingJob, atMs: number): number | null =>
  isEnded(data.state) && data.current !== null ? jobTimes(data, atMs).executionTime : null;

export const gone = (state: EndpointState, job: LivingJob, reason: StopOrder['reason']): TouchedJob => ({
  jobId: job.data.jobId,
  now: 'gone',
  stop: stopOf(job, reason),
  leftovers: leftByJob(state, job),
});
