import type { Scaling } from '../endpoint/index.js';
import { totalWorkers, type WorkerCounts } from './count-workers.js';
import type { Demand } from './demand.js';
import { overdueNeed, paceNeed, type AddedForDelay } from './queue-delay.js';

/** Why this many workers are wanted, before minimum, maximum and idle time. */
export const DEMAND_REASONS = [
  'no-demand',
  'demand', // the jobs that wait and run take this many
  'from-zero', // jobs wait and there is no worker at all
  'pace', // by the measured pace a waiting job would wait too long
  'queue-delay', // the oldest waiting job has waited too long
] as const;

type DemandReason = (typeof DEMAND_REASONS)[number];

export interface Wanted {
  readonly workers: number;
  readonly reason: DemandReason;
  readonly detail: string;
  /** To be remembered for the next question. */
  readonly addedForDelay: AddedForDelay | null;
  /** When the passing of time alone may change the answer; null if never. */
  readonly recheckAtMs: number | null;
}

export interface WantedQuestion {
  readonly scaling: Scaling;
  readonly demand: Demand;
  readonly workers: WorkerCounts;
  readonly addedForDelay: AddedForDelay | null;
  /** Workers that are there, paused or not, and that requests wait for which no other can serve. Absent: none. */
  readonly strictWorkers?: number;
}

/** How many workers the present demand takes. Waiting low-priority jobs count for nothing. */
export function wantedWorkers(question: WantedQuestion, nowMs: number): Wanted {
  const { scaling } = question;
  switch (scaling.type) {
    case 'REQUEST_COUNT':
      return byRequestCount(scaling.requestCount, question);
    case 'QUEUE_DELAY':
      return byQueueDelay(Math.round(scaling.queueDelaySeconds * 1000), question, nowMs);
  }
}

/**
 * `ceil((queued + running) / requestCount)`. Running low-priority jobs occupy workers, so a normal job that waits behind
 * them needs another; but they occupy no more than there are, so alone they never bring one. What waits for one worker alone
 * brings no other one, and keeps its own.
 */
function byRequestCount(requestCount: number, { demand, strictWorkers = 0, workers }: WantedQuestion): Wanted {
  const present = totalWorkers(workers);
  const strict = (demand.strict ?? []).reduce((sum, { queued }) => sum + queued, 0);
  const jobs = Math.max(0, demand.queuedNormal - strict) + demand.running;
  const held = Math.min(present, Math.ceil(demand.runningLow / requestCount));
  const byJobs = Math.min(Math.ceil(jobs / requestCount), Math.ceil((jobs - demand.runningLow) / requestCount) + held);
  const detail = `${demand.queuedNormal} queued and ${demand.running} running, ${requestCount} per worker`;
  const named = strict === 0 ? '' : `; ${strict} of the queued wait for one worker alone`;
  return settled(Math.max(byJobs, strictWorkers), present === 0 ? 'from-zero' : 'demand', `${detail}${named}`);
}

function byQueueDelay(delayMs: number, question: WantedQuestion, nowMs: number): Wanted {
  const { demand, workers } = question;
  const present = totalWorkers(workers);
  const queued = demand.queuedNormal;
  const busy = Math.max(workers.busy, demand.running > 0 ? Math.min(1, present) : 0);
  if (queued === 0) return settled(busy, 'demand', `none queued and ${demand.running} running`);
  const byPace = paceNeed(delayMs, demand, busy);
  if (present === 0) return settled(Math.max(1, byPace), 'from-zero', `${queued} queued and no worker there`);
  const overdue = overdueNeed(delayMs, question, nowMs);
  const here = Math.min(present, busy + Math.min(queued, workers.idle + workers.starting));
  const memory = { addedForDelay: overdue.addedForDelay, recheckAtMs: overdue.recheckAtMs };
  if (overdue.workers > Math.max(here, byPace, present)) {
    const detail = `${queued} queued, the oldest for more than ${delayMs} ms`;
    return { ...settled(overdue.workers, 'queue-delay', detail), ...memory };
  }
  const wanted = Math.max(here, byPace, overdue.workers);
  if (byPace < wanted || byPace <= here) return { ...settled(wanted, 'demand', `${queued} queued`), ...memory };
  return { ...settled(wanted, 'pace', `${queued} queued, too many for the measured pace`), ...memory };
}

const settled = (workers: number, reason: DemandReason, detail: string): Wanted => ({
  workers,
  reason: workers === 0 ? 'no-demand' : reason,
  detail,
  addedForDelay: null,
  recheckAtMs: null,
});
