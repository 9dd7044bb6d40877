import { limitDetail } from '../../account-limits/index.js';
import { SUBMIT_JOBS_MAX } from '../bounds.js';
import type { CommandDecision, FullReason, JobWish, SubmitCommand } from '../commands.js';
import type { BornTakenFact, KeyUse, SubmittedFact } from '../facts.js';
import { itemJobId, type KeyData } from '../job-data.js';
import type { EndpointState } from '../state.js';
import { FreeSlots } from './free-slots.js';
import { decided, refused } from './outcome.js';

/**
 * Accepts all jobs of the command that are not accepted yet, or none. A job that came before, be it gone by now, is the same
 * job; so is every job of a request that came before under its key.
 */
export function decideSubmit(state: EndpointState, command: SubmitCommand, atMs: number): CommandDecision {
  const { jobs, key } = command;
  if (Math.max(jobs.length, key?.size ?? 0) > SUBMIT_JOBS_MAX) {
    return tooLarge(`a request may hold ${SUBMIT_JOBS_MAX} jobs at most`);
  }
  if (key !== null) return decideKeyed(state, { ...command, key }, atMs);
  const missing = jobs.filter(({ jobId }) => !state.jobs.has(jobId) && state.gone.get(jobId) === undefined);
  return accept(state, { command, missing, keyOf: () => null }, atMs);
}

type KeyedCommand = SubmitCommand & { readonly key: KeyUse };

/**
 * Items of a request are accepted in their order, so their number says which are; a request that comes with others, or under
 * other ids, is told where the request stands. So its pieces may come from any edge, again, and in any order.
 */
function decideKeyed(state: EndpointState, command: KeyedCommand, atMs: number): CommandDecision {
  const { jobs, key } = command;
  const known = state.keys.get(key.name)?.data;
  if (known !== undefined && isOther(known, key)) {
    return refused({
      reason: 'key-reused',
      code: 'idempotency-key-reused',
      detail: 'This Idempotency-Key was used for another request.',
    });
  }
  const { firstId, size, accepted } = known ?? { ...key, accepted: 0 };
  if (firstId !== key.firstId || key.item > accepted || !isPieceOf(key, jobs)) {
    return decided({ kind: 'named-before', firstId, size, accepted });
  }
  const missing = jobs.slice(accepted - key.item);
  return accept(state, { command, missing, keyOf: (at) => ({ ...key, item: accepted + at }) }, atMs);
}

const isOther = (known: KeyData, key: KeyUse): boolean =>
  known.fingerprint !== key.fingerprint || known.size !== key.size;

/** The jobs have the ids that follow from the key's. */
const isPieceOf = (key: KeyUse, jobs: readonly JobWish[]): boolean =>
  key.item + jobs.length <= key.size && jobs.every(({ jobId }, at) => jobId === itemJobId(key, key.item + at));

interface Acceptance {
  readonly command: SubmitCommand;
  /** The jobs that are to be accepted now. */
  readonly missing: readonly JobWish[];
  readonly keyOf: (at: number) => KeyUse | null;
}

function accept(state: EndpointState, { command, missing, keyOf }: Acceptance, atMs: number): CommandDecision {
  const full = checkBounds(state, command, missing);
  if (full !== null) return full;
  const seats = new FreeSlots(state, state.normal.ready.size + state.low.ready.size === 0 ? command.takers : []);
  const seated = seatJobs(missing, seats);
  const facts = missing.map((wish, at): SubmittedFact | BornTakenFact => {
    const { ttlMs, ...job } = wish;
    const accepted = { ...job, ordinal: state.nextOrdinal + at, expiresAtMs: atMs + ttlMs, key: keyOf(at) };
    const seat = seated.get(wish);
    return seat === undefined
      ? { kind: 'submitted', atMs, job: accepted }
      : { kind: 'born-taken', atMs, job: accepted, taking: { attempt: 1, ...seat } };
  });
  const isReplayed = missing.length < command.jobs.length;
  return decided({ kind: 'accepted', jobIds: command.jobs.map(({ jobId }) => jobId), isReplayed }, facts);
}

/** Workers that wait get the jobs at once, in the order in which they would start. */
function seatJobs(
  jobs: readonly JobWish[],
  seats: FreeSlots,
): ReadonlyMap<JobWish, NonNullable<ReturnType<FreeSlots['next']>>> {
  const seated = new Map<JobWish, NonNullable<ReturnType<FreeSlots['next']>>>();
  for (const isLow of [false, true]) {
    for (const job of jobs) {
      const seat = job.isLowPriority === isLow ? seats.next() : null;
      if (seat !== null) seated.set(job, seat);
    }
  }
  return seated;
}

const WAIT_MS = 1_000;

/** A tenant's share. Null: all of it fits. */
function checkBounds(
  state: EndpointState,
  { bounds, key }: SubmitCommand,
  missing: readonly JobWish[],
): CommandDecision | null {
  if (missing.length === 0) return null;
  if (state.jobs.size + missing.length > bounds.livingJobs) {
    return full('too-many-jobs', limitDetail('jobsPerEndpoint', bounds.livingJobs));
  }
  const bytes = missing.reduce((sum, { bodyBytes }) => sum + bodyBytes, state.livingBytes);
  if (bytes > bounds.livingBytes) {
    return full('too-many-bytes', limitDetail('payloadBytesPerEndpoint', bounds.livingBytes));
  }
  if (key !== null && state.keys.size >= bounds.keys && state.keys.get(key.name) === undefined) {
    return full('too-many-keys', limitDetail('idempotencyKeysPerEndpoint', bounds.keys));
  }
  const tells = missing.some(({ webhook }) => webhook !== null);
  if (tells && state.deliveries.size >= bounds.pendingDeliveries) {
    return full('too-many-deliveries', limitDetail('pendingDeliveriesPerEndpoint', bounds.pendingDeliveries));
  }
  return null;
}

const full = (reason: FullReason, detail: string): CommandDecision =>
  refused({ reason, code: 'limit-reached', detail, retryAfterMs: WAIT_MS });

const tooLarge = (detail: string): CommandDecision => refused({ reason: 'too-large', code: 'body-too-large', detail });
