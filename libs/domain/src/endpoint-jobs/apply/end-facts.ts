import { isEnded, withAttempt, withStop, type AttemptRecord, type Payload } from '../../job/index.js';
import { endingOf, type AttemptEnding, type JobEnding } from '../ending.js';
import type {
  CancelledFact,
  EndpointCounters,
  FinishedFact,
  LetGoFact,
  LifeChangedFact,
  LostFact,
  Requeueing,
  RetriedFact,
  TimedOutFact,
} from '../facts.js';
import type { EndpointState, LivingJob } from '../state.js';
import type { LogPlace } from '../structures/carry-list.js';
import { addDelivery } from './delivery-facts.js';
import { enqueue, executionMsOf, keepPace, setOutputBytes, stopOf, unlist } from './queue.js';
import { leftByAttempt, leftByProgress } from './leftovers.js';
import { countOrdinal, keptPayload } from './take-facts.js';
import { moved, type StopOrder, type TouchedJob } from './touched-job.js';

const COUNTER_OF_END = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TIMED_OUT: 'timedOut',
} as const satisfies Readonly<Record<JobEnding['outcome'], keyof EndpointCounters>>;

/** The end of a job as it is shown, and the reason for which its holder is to be stopped. */
interface Ended {
  readonly atMs: number;
  readonly output: Payload | null;
  readonly outputBytes: number;
  readonly outputPlace: LogPlace | null;
  readonly chunks: number;
  readonly stop: StopOrder['reason'] | null;
}

const NOTHING_SHOWN = { output: null, outputBytes: 0, outputPlace: null, chunks: 0 } as const;

/** The end of a job, whatever brings it. */
function end(
  state: EndpointState,
  job: LivingJob,
  ended: Ended & { readonly ending: JobEnding },
): readonly TouchedJob[] {
  const { data } = job;
  const { atMs, ending } = ended;
  const stop = ended.stop === null ? null : stopOf(job, ended.stop);
  const leftovers = leftByProgress(job, ended.outputBytes);
  unlist(state, job);
  data.history = historyWith(job, ending, atMs);
  data.state = ending.outcome;
  data.endedAtMs = atMs;
  data.error = ending.error;
  data.chunks = ended.chunks;
  job.output = keptPayload(ended.output);
  job.outputPlace = ended.outputPlace;
  job.leaseUntilMs = Number.POSITIVE_INFINITY;
  setOutputBytes(state, job, ended.outputBytes);
  state.lives.put(job);
  state.counters[COUNTER_OF_END[ending.outcome]] += 1;
  keepPace(state, job, atMs);
  addDelivery(state, job, atMs);
  const counted = { outcome: ending.outcome, executionMs: executionMsOf(job, atMs) };
  return [{ jobId: data.jobId, now: 'ended', stop, leftovers, end: counted }];
}

/** The reasons and log tails that history keeps are bounded by the facts that bring them. */
function historyWith(
  { data }: LivingJob,
  { logTail, outcome, reason }: JobEnding | AttemptEnding,
  nowMs: number,
): readonly AttemptRecord[] {
  if (data.state !== 'IN_PROGRESS') return data.history;
  return withAttempt(data, { outcome, reason, logTail, nowMs });
}

export function applyFinished(
  state: EndpointState,
  job: LivingJob,
  { fact, place }: { readonly fact: FinishedFact; readonly place: LogPlace },
): readonly TouchedJob[] {
  const outputPlace = fact.output === null ? null : place;
  return end(state, job, { ...fact, outputPlace, ending: endingOf(fact), stop: null });
}

export const applyCancelled = (state: EndpointState, job: LivingJob, fact: CancelledFact): readonly TouchedJob[] =>
  end(state, job, { ...NOTHING_SHOWN, atMs: fact.atMs, ending: endingOf(fact), stop: 'cancelled' });

export const applyTimedOut = (state: EndpointState, job: LivingJob, fact: TimedOutFact): readonly TouchedJob[] =>
  end(state, job, { ...NOTHING_SHOWN, atMs: fact.atMs, ending: endingOf(fact), stop: 'timed out' });

export function applyLost(state: EndpointState, job: LivingJob, fact: LostFact): readonly TouchedJob[] {
  const { atMs, charged, unstarted } = fact;
  job.data.charged = charged;
  job.data.unstarted = unstarted;
  const ending = endingOf(fact);
  if (ending.outcome !== 'lost') return end(state, job, { ...NOTHING_SHOWN, atMs, ending, stop: null });
  return requeue(state, job, { atMs, next: ending.next, history: historyWith(job, ending, atMs) });
}

/** The new attempt begins with nothing of what the one before it showed. */
export function applyRetried(
  state: EndpointState,
  job: LivingJob,
  { atMs, next, retryId }: RetriedFact,
): readonly TouchedJob[] {
  const { data } = job;
  data.charged = 0;
  data.unstarted = 0;
  data.retryId = retryId;
  return requeue(state, job, { atMs, next, history: data.history });
}

interface Requeue {
  readonly atMs: number;
  readonly next: Requeueing;
  readonly history: readonly AttemptRecord[];
}

function requeue(state: EndpointState, job: LivingJob, { atMs, next, history }: Requeue): readonly TouchedJob[] {
  const { data } = job;
  const leftovers = leftByAttempt(state, job);
  unlist(state, job);
  data.state = 'IN_QUEUE';
  data.attempt += 1;
  data.current = null;
  data.queuePlace = next.queuePlace;
  data.queuedAtMs = atMs;
  data.notBeforeMs = next.notBeforeMs;
  data.endedAtMs = null;
  data.error = null;
  data.chunks = 0;
  data.history = history;
  job.output = null;
  job.outputPlace = null;
  job.leaseUntilMs = Number.POSITIVE_INFINITY;
  setOutputBytes(state, job, 0);
  countOrdinal(state, next.queuePlace);
  state.counters.retried += 1;
  state.lives.put(job);
  enqueue(state, job, atMs);
  return [{ jobId: data.jobId, now: 'moved', stop: null, leftovers }];
}

export function applyLetGo(job: LivingJob, { jobId, stoppedAtMs, logTail }: LetGoFact): readonly TouchedJob[] {
  job.data.history = withStop(job.data.history, { stoppedAtMs, logTail });
  return moved(jobId);
}

export function applyLifeChanged(
  state: EndpointState,
  job: LivingJob,
  { jobId, expiresAtMs, retentionMs }: LifeChangedFact,
): readonly TouchedJob[] {
  job.data.expiresAtMs = expiresAtMs;
  job.data.retentionMs = retentionMs;
  state.lives.put(job);
  return [{ jobId, now: isEnded(job.data.state) ? 'ended' : 'moved', stop: null, leftovers: null }];
}
