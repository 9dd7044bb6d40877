import {
  INLINE_INPUT_MAX_BYTES,
  PlatformError,
  attachmentTtlMs,
  jobKeyOf,
  recordTtlMs,
  type AccountId,
  type EndpointId,
  type Job,
  type JobId,
  type JobReservation,
  type RawJson,
} from '@berth/domain';
import type { JobStore } from './job-store.js';
import { storePayload } from './payloads.js';
import { putTicket } from './hints.js';

/** A job request that has passed every check at the door. Times in ms. */
export interface Submission {
  readonly endpointId: EndpointId;
  readonly accountId: AccountId;
  readonly origin: 'run' | 'runsync';
  readonly input: RawJson;
  /** JSON object text of the other members that go to the worker. */
  readonly extras: RawJson;
  /** See `Job.sealedExtras`. */
  readonly sealedExtras: string | null;
  readonly webhook: string | null;
  readonly executionTimeoutMs: number;
  readonly ttlMs: number;
  readonly retentionMs: number;
  readonly isLowPriority: boolean;
  /** See `Job.reservation`. */
  readonly reservation: JobReservation | null;
  readonly traceparent: string | null;
}

const CREATE_ROUNDS_MAX = 3;

/** Ids as the published clients know them (decisions, "Job id"). */
export const newJobId = (store: Pick<JobStore, 'random'>, origin: Submission['origin']): JobId =>
  (origin === 'runsync' ? `sync-${store.random.uuid()}` : store.random.uuid()) as JobId;

/**
 * Accepts a job: blobs, then the record, then the ticket (design, "Order of writes"). Once the record is written the
 * job is accepted for good; a ticket that could not be put is the ticketer's to mend, so that is no failure.
 *
 * @throws PlatformError `service-unavailable` when the record could not be written or its fate not be learnt
 */
export async function submitJob(store: JobStore, id: JobId, submission: Submission): Promise<Job> {
  const job = await storeJob(store, id, submission);
  await putTicket(store, job);
  return job;
}

/** Blobs, then the record, without a ticket: nobody takes the job before one is put. @throws as `submitJob` */
export async function storeJob(store: JobStore, id: JobId, submission: Submission): Promise<Job> {
  const job = await withStoredInput(store, newJob(store, id, submission), submission.input);
  await createRecord(store, job);
  return job;
}

function newJob(store: JobStore, id: JobId, submission: Submission): Job {
  const nowMs = store.clock.nowMs();
  return {
    id,
    endpointId: submission.endpointId,
    accountId: submission.accountId,
    origin: submission.origin,
    state: 'IN_QUEUE',
    attempt: 1,
    charged: 0,
    current: null,
    createdAtMs: nowMs,
    queuedAtMs: nowMs,
    notBeforeMs: nowMs,
    endedAtMs: null,
    expiresAtMs: nowMs + submission.ttlMs,
    retentionMs: submission.retentionMs,
    executionTimeoutMs: submission.executionTimeoutMs,
    lowPriority: submission.isLowPriority,
    input: { kind: 'inline', json: submission.input },
    extras: submission.extras,
    sealedExtras: submission.sealedExtras,
    webhook: submission.webhook,
    output: null,
    error: null,
    chunks: 0,
    history: [],
    milestones: [],
    reservation: submission.reservation,
    traceparent: submission.traceparent,
    mutation: store.random.uuid(),
  };
}

async function withStoredInput(store: JobStore, job: Job, input: RawJson): Promise<Job> {
  const ttlMs = attachmentTtlMs(job, store.clock.nowMs());
  const stored = await storePayload(store.blobs, jobKeyOf(job), {
    name: 'in',
    json: input,
    inlineMaxBytes: INLINE_INPUT_MAX_BYTES,
    ttlMs,
  });
  return { ...job, input: stored };
}

/**
 * The id is new, or that of the same request sent twice at once, so whatever stands under it is this very job: reading
 * back settles every doubt.
 */
async function createRecord(store: JobStore, job: Job): Promise<void> {
  for (let round = 0; round < CREATE_ROUNDS_MAX; round += 1) {
    const outcome = await store.records.create(job, recordTtlMs(job, store.clock.nowMs()));
    if (outcome.kind !== 'unknown') return;
    const stored = await store.records.read(jobKeyOf(job));
    if (stored !== null) return;
  }
  throw new PlatformError('service-unavailable', 'The job could not be stored; nothing was accepted. Try again.', {
    retryAfterSeconds: 1,
  });
}
