import { isEnded, withAttempt, withStop, type AttemptRecord, type JobState, type Payload } from '../../job/index.js';
import { REASON_MAX_BYTES } from '../bounds.js';
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
import { boundedText } from '../text-bytes.js';
import { addDelivery } from './delivery-facts.js';
import { enqueue, keepPace, setOutputBytes, stopOf, unlist } from './queue.js';
import { countOrdinal, keptPayload } from './take-facts.js';
import { moved, type StopOrder, type TouchedJob } from './touched.js';

const COUNTER_OF_END = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TIMED_OUT: 'timedOut',
} as const satisfies Partial<Record<JobState, keyof EndpointCounters>>;

interface Ending {
  readonly atMs: number;
  readonly state: keyof typeof COUNTER_OF_END;
  readonly error: string | null;
  readonly output: Payload | null;
  readonly outputBytes: number;
  readonly outputPlace: LogPlace | null;
  readonly chunks: number;
  readonly logTail: readonly string[];
  readonly reason: string;
  readonly stop: StopOrder['reason'] | null;
}

const NOTHING_SHOWN = { output: null, outputBytes: 0, outputPlace: null, chunks: 0, logTail: [] } as const;

/** The end of a job, whatever brings it. */
function end(state: EndpointState, job: LivingJob, ending: Ending): readonly TouchedJob[] {
  const { data } = job;
  const stop = ending.stop === null ? null : stopOf(job, ending.stop);
  unlist(state, job);
  data.history = historyWith(job, { ...ending, outcome: ending.state });
  data.state = ending.state;
  data.endedAtMs = ending.atMs;
  data.error = ending.error;
  data.chunks = ending.chunks;
  job.output = keptPayload(ending.output);
  job.outputPlace = ending.outputPlace;
  job.leaseUntilMs = Number.POSITIVE_INFINITY;
  setOutputBytes(state, job, ending.outputBytes);
  state.lives.put(job);
  state.counters[COUNTER_OF_END[ending.state]] += 1;
  keepPace(state, job, ending.atMs);
  addDelivery(state, job, ending.atMs);
  return [{ jobId: data.jobId, now: 'ended', stop }];
}

/** The reasons and log tails that history keeps are bounded by the facts that bring them. */
function historyWith(
  { data }: LivingJob,
  { outcome, reason, logTail, atMs }: Pick<Ending, 'reason' | 'logTail' | 'atMs'> & Pick<AttemptRecord, 'outcome'>,
): readonly AttemptRecord[] {
  if (data.state !== 'IN_PROGRESS') return data.history;
  return withAttempt(data, { outcome, reason, logTail, nowMs: atMs });
}

export function applyFinished(
  state: EndpointState,
  job: LivingJob,
  { fact, place }: { readonly fact: FinishedFact; readonly place: LogPlace },
): readonly TouchedJob[] {
  const { error, output } = fact;
  const outputPlace = output === null ? null : place;
  return end(state, job, {
    ...fact,
    outputPlace,
    reason: boundedText(error ?? fact.state, REASON_MAX_BYTES),
    stop: null,
  });
}

export const applyCancelled = (state: EndpointState, job: LivingJob, { atMs }: CancelledFact): readonly TouchedJob[] =>
  end(state, job, { ...NOTHING_SHOWN, atMs, state: 'CANCELLED', error: null, reason: 'CANCELLED', stop: 'cancelled' });

export const applyTimedOut = (state: EndpointState, job: LivingJob, fact: TimedOutFact): readonly TouchedJob[] =>
  end(state, job, { ...NOTHING_SHOWN, ...fact, state: 'TIMED_OUT', reason: fact.error, stop: 'timed out' });

export function applyLost(state: EndpointState, job: LivingJob, fact: LostFact): readonly TouchedJob[] {
  const { charged, next, unstarted } = fact;
  job.data.charged = charged;
  job.data.unstarted = unstarted;
  if (next === null) {
    return end(state, job, { ...NOTHING_SHOWN, ...fact, state: 'FAILED', reason: fact.reason, stop: null });
  }
  const history = historyWith(job, { ...fact, outcome: 'lost' });
  return requeue(state, job, { atMs: fact.atMs, next, history });
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
  return moved(data.jobId);
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
  return [{ jobId, now: isEnded(job.data.state) ? 'ended' : 'moved', stop: null }];
}
