import { disappearsAtMs } from '../../job/index.js';
import type { ExpiredFact, PurgedFact } from '../facts.js';
import type { EndpointState, Lane, LivingJob } from '../state.js';
import { gone, remove } from './queue.js';
import type { TouchedJob } from './touched-job.js';

/** How many jobs of a lane wait at this place or before it. */
export const waitingThrough = ({ delayed, ready }: Lane, queuePlace: number): number => {
  const behind = { data: { queuePlace: queuePlace + 1 } };
  return ready.before(behind) + delayed.before(behind);
};

export const purgedCount = ({ low, normal }: EndpointState, { through }: Pick<PurgedFact, 'through'>): number =>
  waitingThrough(normal, through.normal) + waitingThrough(low, through.low);

/** The jobs that the rule is about, the first to expire first; one more than it says, where there is one. */
export function expiredJobs(state: EndpointState, { before, count }: ExpiredFact): readonly LivingJob[] {
  const limit = state.isWhole ? count + 1 : state.jobs.size;
  return state.lives
    .due(before.atMs, limit)
    .filter(({ data }) => disappearsAtMs(data) < before.atMs || data.ordinal <= before.ordinal);
}

export function applyExpired(state: EndpointState, fact: ExpiredFact): readonly TouchedJob[] {
  const jobs = expiredJobs(state, fact);
  const touched = jobs.map((job) => gone(state, job, 'expired'));
  for (const job of jobs) remove(state, job, fact.atMs);
  return touched;
}

export function applyPurged(state: EndpointState, fact: PurgedFact): readonly TouchedJob[] {
  const { atMs, count, isLast, purgeId, through, until } = fact;
  const jobs = [...waiting(state.normal, through.normal), ...waiting(state.low, through.low)];
  const touched = jobs.map((job) => gone(state, job, 'expired'));
  for (const job of jobs) remove(state, job, atMs);
  const before = state.lastPurge?.purgeId === purgeId ? state.lastPurge.removed : 0;
  state.lastPurge = { purgeId, removed: before + count, until, isDone: isLast };
  return touched;
}

function* waiting({ delayed, ready }: Lane, through: number): Generator<LivingJob> {
  for (const order of [ready, delayed]) {
    for (const job of order.forwards()) {
      if (job.data.queuePlace > through) break;
      yield job;
    }
  }
}
