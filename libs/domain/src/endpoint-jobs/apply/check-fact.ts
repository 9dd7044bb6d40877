import type { JobId } from '../../ids.js';
import { disappearsAtMs } from '../../job/index.js';
import type {
  CarriedFact,
  DeliveryEndedFact,
  EndpointCounters,
  ExpiredFact,
  LogFact,
  LogFactKind,
  FinishedFact,
  KeyUse,
  PurgedFact,
  TotalsFact,
} from '../facts.js';
import { isLegal, subjectOf } from '../legal-facts.js';
import { deliveryName, type EndpointState } from '../state.js';
import { expiredJobs, purgedCount } from './rules.js';

/** Why a fact cannot be. */
export type Illegality =
  | 'not-in-this-state' // `LEGAL_FACTS`
  | 'before-the-last' // time went back
  | 'other-attempt' // it is not the job's attempt, or not the one that follows
  | 'other-token' // it is in the name of another holder
  | 'other-count' // a rule about more jobs, or fewer; `totals` that do not add up
  | 'other-item' // an item of a keyed request is missing, or there twice
  | 'other-owner' // a term that is over
  | 'not-carried'; // another than what was known, or `totals` that cover what is not carried

/** Looks before anything is changed. Null: the fact may be applied. */
export function checkFact(state: EndpointState, fact: LogFact): Illegality | null {
  if (fact.atMs < state.lastAtMs) return 'before-the-last';
  if (!isLegal(state, fact)) return 'not-in-this-state';
  return (CHECKS[fact.kind] as Check<LogFactKind>)(state, fact);
}

/**
 * True where the fact is of something whose beginning has gone from the log: it is skipped until the log is whole, since
 * what is living is carried further on.
 */
export function isOfUnknown(state: EndpointState, fact: LogFact): boolean {
  if (state.isWhole || state.isDeleted || fact.kind === 'submitted' || fact.kind === 'born-taken') return false;
  const subject = subjectOf(state, fact);
  return subject === 'no-job' || subject === 'no-delivery';
}

type Check<Kind extends LogFactKind> = (
  state: EndpointState,
  fact: Extract<LogFact, { readonly kind: Kind }>,
) => Illegality | null;

const nothingMore = (): null => null;

/** The rules with which a fact of each kind must agree besides its subject's state. */
const CHECKS: { readonly [Kind in LogFactKind]: Check<Kind> } = {
  submitted: (state, { job }) => checkItem(state, job.key),
  'born-taken': (state, { job }) => checkItem(state, job.key),
  taken: (state, { jobId, taking }) => checkAttempt(state, jobId, taking.attempt),
  started: (state, { attempt, jobId }) => checkAttempt(state, jobId, attempt),
  progressed: (state, { attempt, jobId }) => checkAttempt(state, jobId, attempt),
  finished: (state, fact) => checkAttempt(state, fact.jobId, fact.attempt) ?? checkToken(state, fact),
  lost: (state, { attempt, jobId }) => checkAttempt(state, jobId, attempt),
  cancelled: nothingMore,
  'timed-out': (state, { attempt, jobId }) => checkAttempt(state, jobId, attempt),
  'let-go': (state, { attempt, jobId }) => checkAttempt(state, jobId, attempt),
  // It names the attempt that it begins.
  retried: (state, { attempt, jobId }) => checkAttempt(state, jobId, attempt - 1),
  'life-changed': nothingMore,
  'delivery-tried': nothingMore,
  'delivery-ended': checkClaim,
  purged: checkPurged,
  expired: checkExpired,
  carried: checkCarried,
  totals: checkTotals,
  opened: ({ term }, fact) => (fact.term > term ? null : 'other-owner'),
  'endpoint-deleted': nothingMore,
};

function checkItem(state: EndpointState, key: KeyUse | null): Illegality | null {
  if (key === null) return null;
  const known = state.keys.get(key.name);
  if (known === undefined) return key.item === 0 || !state.isWhole ? null : 'other-item';
  return known.data.accepted === key.item ? null : 'other-item';
}

function checkAttempt({ jobs }: EndpointState, jobId: JobId, attempt: number): Illegality | null {
  return jobs.get(jobId)?.data.attempt === attempt ? null : 'other-attempt';
}

const checkToken = ({ jobs }: EndpointState, { jobId, token }: FinishedFact): Illegality | null =>
  jobs.get(jobId)?.data.current?.token === token ? null : 'other-token';

function checkClaim(state: EndpointState, { attempt, jobId, token }: DeliveryEndedFact): Illegality | null {
  const delivery = state.deliveries.get(deliveryName(jobId, attempt));
  return delivery?.data.claim?.token === token ? null : 'other-token';
}

function checkPurged(state: EndpointState, fact: PurgedFact): Illegality | null {
  return !state.isWhole || purgedCount(state, fact) === fact.count ? null : 'other-count';
}

/** The first `count` jobs of the order, all of them within the rule, and none behind them. */
function checkExpired(state: EndpointState, fact: ExpiredFact): Illegality | null {
  if (fact.before.atMs > fact.atMs) return 'before-the-last';
  if (!state.isWhole) return null;
  return expiredJobs(state, fact).length === fact.count ? null : 'other-count';
}

/** A carried thing is known, and is as it was, unless its beginning has gone from the log. */
function checkCarried(state: EndpointState, fact: CarriedFact): Illegality | null {
  if (fact.what !== 'job') return null;
  const known = state.jobs.get(fact.job.jobId);
  if (known === undefined) return state.isWhole ? 'not-carried' : null;
  const { data, outputPlace } = known;
  const isSame = data.attempt === fact.job.attempt && data.state === fact.job.state;
  const isShown = (outputPlace === null) === (fact.output === null);
  return isSame && isShown && disappearsAtMs(data) === disappearsAtMs(fact.job) ? null : 'not-carried';
}

/** Nothing living may have been written whole last at what is covered, for that is purged. */
function checkTotals(state: EndpointState, fact: TotalsFact): Illegality | null {
  const oldest = state.whole.oldest?.place.sequence ?? null;
  if (oldest !== null && oldest <= fact.covers) return 'not-carried';
  return !state.isWhole || addsUp(state, fact) ? null : 'other-count';
}

function addsUp({ counters, lastPurge, nextOrdinal, term }: EndpointState, fact: TotalsFact): boolean {
  const { life } = fact;
  const names = Object.keys(counters) as (keyof EndpointCounters)[];
  const isSamePurge = life.lastPurge?.purgeId === lastPurge?.purgeId && life.lastPurge?.removed === lastPurge?.removed;
  const isCounted = names.every((name) => counters[name] === fact.counters[name]);
  return isCounted && isSamePurge && life.nextOrdinal === nextOrdinal && life.term === term;
}
