import type { Payload } from '../../job/index.js';
import { KEPT_MAX_UNITS, KEY_KEPT_MS, ATTEMPT_LEASE_MS, REPEAT_KEPT_MS } from '../bounds.js';
import type {
  AcceptedJob,
  BornTakenFact,
  LogFact,
  KeyUse,
  ProgressedFact,
  StartedFact,
  SubmittedFact,
  TakenFact,
} from '../facts.js';
import type { JobBody, JobData, Taking } from '../job-data.js';
import type { EndpointState, KeyRecord, LivingJob } from '../state.js';
import type { LogPlace } from '../structures/carry-list.js';
import { dequeue, list, setOutputBytes, startRunning } from './queue.js';
import { moved, type TouchedJob } from './touched-job.js';

/** The part that stays in memory of a payload that lies in the log; a manifest is as long as a small one. */
export const keptPayload = (payload: Payload | null): Payload | null =>
  payload?.kind === 'inline' && payload.json.length <= KEPT_MAX_UNITS ? payload : null;

export function keptBody(body: JobBody): JobBody | null {
  const { extras, input, sealedExtras, traceparent } = body;
  const units = extras.length + (sealedExtras?.length ?? 0) + (traceparent?.length ?? 0);
  return input.kind === 'inline' && input.json.length + units <= KEPT_MAX_UNITS ? body : null;
}

/** @param data the job's own from now on */
export function newLivingJob(data: LivingJob['data'], body: JobBody, place: LogPlace): LivingJob {
  return {
    what: 'job',
    data,
    body: keptBody(body),
    output: null,
    outputPlace: null,
    isReady: false,
    leaseUntilMs: Number.POSITIVE_INFINITY,
    place,
    older: null,
    newer: null,
    lifeIndex: -1,
    stepIndex: -1,
  };
}

export function applySubmitted(
  state: EndpointState,
  { fact, place }: { readonly fact: SubmittedFact | BornTakenFact; readonly place: LogPlace },
): readonly TouchedJob[] {
  const job = newLivingJob(dataOf(fact.job, fact.atMs), fact.job.body, place);
  countOrdinal(state, job.data.queuePlace);
  state.whole.append(job);
  list(state, job, fact.atMs);
  if (fact.job.key !== null) useKey(state, fact.job.key, { place, atMs: fact.atMs });
  if (fact.kind === 'born-taken') take(state, job, fact);
  return moved(job.data.jobId);
}

/** Field by field: what is spread together takes half as much again, a million times. */
function dataOf(job: AcceptedJob, atMs: number): LivingJob['data'] {
  return {
    jobId: job.jobId,
    ordinal: job.ordinal,
    origin: job.origin,
    createdAtMs: atMs,
    expiresAtMs: job.expiresAtMs,
    retentionMs: job.retentionMs,
    executionTimeoutMs: job.executionTimeoutMs,
    isLowPriority: job.isLowPriority,
    webhook: job.webhook,
    bodyBytes: job.bodyBytes,
    state: 'IN_QUEUE',
    attempt: 1,
    charged: 0,
    unstarted: 0,
    queuePlace: job.ordinal,
    queuedAtMs: atMs,
    notBeforeMs: atMs,
    endedAtMs: null,
    current: null,
    error: null,
    outputBytes: 0,
    chunks: 0,
    history: NO_HISTORY,
    retryId: null,
  };
}

/** One for all jobs that were never tried. */
const NO_HISTORY: JobData['history'] = [];

export function countOrdinal(state: EndpointState, used: number): void {
  state.nextOrdinal = Math.max(state.nextOrdinal, used + 1);
}

/** Of a key whose first items have gone from the log nothing is known until it is carried. */
function useKey(
  state: EndpointState,
  { item, ...key }: KeyUse,
  { place, atMs }: { readonly place: LogPlace; readonly atMs: number },
): void {
  const known = state.keys.get(key.name);
  if (known !== undefined) {
    known.data = { ...known.data, accepted: item + 1 };
    // The whole key lies where it was last written; what has grown since stands in later facts.
    return;
  }
  if (item > 0) return;
  const record: KeyRecord = {
    what: 'key',
    name: key.name,
    untilMs: atMs + KEY_KEPT_MS,
    memoryIndex: -1,
    data: { ...key, accepted: 1, createdAtMs: atMs },
    place,
    older: null,
    newer: null,
  };
  state.keys.put(record);
  state.whole.append(record);
}

export function applyTaken(state: EndpointState, job: LivingJob, fact: TakenFact): readonly TouchedJob[] {
  take(state, job, fact);
  return moved(fact.jobId);
}

function take(state: EndpointState, job: LivingJob, { atMs, taking }: TakenFact | BornTakenFact): void {
  const { token, hostId, workerId, takeId } = taking;
  dequeue(state, job);
  job.data.state = 'IN_PROGRESS';
  job.data.current = {
    token,
    hostId,
    workerId,
    takeId,
    startedAtMs: atMs,
    deadlineAtMs: atMs + job.data.executionTimeoutMs,
    isStarted: false,
    progressedAtMs: null,
  };
  job.leaseUntilMs = atMs + ATTEMPT_LEASE_MS;
  startRunning(state, job);
  rememberTake(state, { jobId: job.data.jobId, atMs, taking });
}

/** Also of a job that a replay does not know: the take may be asked about before the job is carried. */
function rememberTake(
  state: EndpointState,
  { jobId, atMs, taking }: Pick<TakenFact, 'jobId' | 'atMs'> & { readonly taking: Taking },
): void {
  const taken = { jobId, attempt: taking.attempt };
  const known = state.takes.get(taking.takeId);
  if (known !== undefined) known.jobs.push(taken);
  else state.takes.put({ name: taking.takeId, untilMs: atMs + REPEAT_KEPT_MS, memoryIndex: -1, jobs: [taken] });
}

export function applyStarted(job: LivingJob, { jobId }: StartedFact): readonly TouchedJob[] {
  const { current } = job.data;
  if (current !== null) job.data.current = { ...current, isStarted: true };
  return moved(jobId);
}

/** Progress shows that the worker is at it, too. */
export function applyProgressed(
  state: EndpointState,
  job: LivingJob,
  { fact, place }: { readonly fact: ProgressedFact; readonly place: LogPlace },
): readonly TouchedJob[] {
  const { current } = job.data;
  if (current !== null) job.data.current = { ...current, isStarted: true, progressedAtMs: fact.atMs };
  job.output = keptPayload(fact.output);
  job.outputPlace = place;
  setOutputBytes(state, job, fact.outputBytes);
  return moved(fact.jobId);
}

/** Applies the effects that a fact has although its job is not known. */
export function applyToUnknown(state: EndpointState, fact: LogFact): void {
  if (fact.kind === 'taken') rememberTake(state, fact);
}
