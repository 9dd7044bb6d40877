import type { DeliveryFact, LogFact, LogFactKind, JobFact } from '../facts.js';
import { deliveryName, type DeliveryRecord, type EndpointState, type LivingJob } from '../state.js';
import type { LogPlace } from '../structures/carry-list.js';
import { advanceState } from './advance-state.js';
import { checkFact, isOfUnknown, type Illegality } from './check-fact.js';
import { applyDeliveryEnded, applyDeliveryTried } from './delivery-facts.js';
import {
  applyCancelled,
  applyFinished,
  applyLetGo,
  applyLifeChanged,
  applyLost,
  applyRetried,
  applyTimedOut,
} from './end-facts.js';
import { applyDeleted, applyOpened } from './owner-facts.js';
import { applyExpired, applyPurged } from './rules.js';
import { applyProgressed, applyStarted, applySubmitted, applyTaken, applyToUnknown } from './take-facts.js';
import type { TouchedJob } from './touched-job.js';
import { applyCarried, applyTotals } from './whole-facts.js';

/** `skipped`: of a job whose beginning has gone from the log. `illegal`: nothing was changed, and the endpoint must stop. */
export type AppliedFact =
  | { readonly kind: 'applied'; readonly touched: readonly TouchedJob[] }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'illegal'; readonly why: Illegality; readonly fact: LogFact };

const SKIPPED: AppliedFact = { kind: 'skipped' };

/**
 * Brings one fact into the state, in place. A replay applies the facts of the log in their order; the owner applies each
 * fact as it is decided, ahead of the disk.
 *
 * @param place where the fact's batch lies, or will: one object for all facts of a batch
 */
export function applyFact(state: EndpointState, fact: LogFact, place: LogPlace): AppliedFact {
  advanceState(state, fact.atMs);
  if (isOfUnknown(state, fact)) {
    applyToUnknown(state, fact);
    state.lastAtMs = Math.max(state.lastAtMs, fact.atMs);
    return SKIPPED;
  }
  const why = checkFact(state, fact);
  if (why !== null) return { kind: 'illegal', why, fact };
  state.lastAtMs = fact.atMs;
  return { kind: 'applied', touched: (APPLY[fact.kind] as Apply<LogFactKind>)(state, { fact, place }) };
}

/** A fact, and where its batch lies. */
interface PlacedFact<F> {
  readonly fact: F;
  readonly place: LogPlace;
}

type Apply<Kind extends LogFactKind> = (
  state: EndpointState,
  placed: PlacedFact<Extract<LogFact, { readonly kind: Kind }>>,
) => readonly TouchedJob[];

/** One row for each kind of fact. Each may rely on `checkFact`. */
const APPLY: { readonly [Kind in LogFactKind]: Apply<Kind> } = {
  submitted: applySubmitted,
  'born-taken': applySubmitted,
  taken: toJob((state, job, { fact }) => applyTaken(state, job, fact)),
  started: toJob((_, job, { fact }) => applyStarted(job, fact)),
  progressed: toJob(applyProgressed),
  finished: toJob(applyFinished),
  lost: toJob((state, job, { fact }) => applyLost(state, job, fact)),
  cancelled: toJob((state, job, { fact }) => applyCancelled(state, job, fact)),
  'timed-out': toJob((state, job, { fact }) => applyTimedOut(state, job, fact)),
  'let-go': toJob((_, job, { fact }) => applyLetGo(job, fact)),
  retried: toJob((state, job, { fact }) => applyRetried(state, job, fact)),
  'life-changed': toJob((state, job, { fact }) => applyLifeChanged(state, job, fact)),
  'delivery-tried': toDelivery(applyDeliveryTried),
  'delivery-ended': toDelivery(applyDeliveryEnded),
  purged: (state, { fact }) => applyPurged(state, fact),
  expired: (state, { fact }) => applyExpired(state, fact),
  carried: applyCarried,
  totals: (state, { fact }) => applyTotals(state, fact),
  opened: (state, { fact }) => applyOpened(state, fact),
  'endpoint-deleted': (state, { fact }) => applyDeleted(state, fact),
};

/** A fact of one job that was there before. */
type OfJob = Exclude<JobFact, { readonly kind: 'submitted' | 'born-taken' }>;

function toJob<F extends OfJob>(
  apply: (state: EndpointState, job: LivingJob, placed: PlacedFact<F>) => readonly TouchedJob[],
): (state: EndpointState, placed: PlacedFact<F>) => readonly TouchedJob[] {
  return (state, placed) => {
    const job = state.jobs.get(placed.fact.jobId);
    return job === undefined ? [] : apply(state, job, placed);
  };
}

function toDelivery<F extends DeliveryFact>(
  apply: (state: EndpointState, delivery: DeliveryRecord, fact: F) => readonly TouchedJob[],
): (state: EndpointState, placed: PlacedFact<F>) => readonly TouchedJob[] {
  return (state, { fact }) => {
    const delivery = state.deliveries.get(deliveryName(fact.jobId, fact.attempt));
    return delivery === undefined ? [] : apply(state, delivery, fact);
  };
}
