import { readAs, readJson, readShape, unreadable, type Reading } from '@berth/contracts';
import type { AttemptRecord, Job, Milestone } from '@berth/domain';
import { jobRecordShape } from './job-record-shape.js';

const VERSION = 1;

/**
 * The record as it lies in the stream: the job's own members under their own names, each JSON text of a payload as one
 * JSON string, so that it comes back byte for byte. Members are only added; a reader sets what an older record lacks.
 */
type JobRecordV1 = Omit<Job, 'milestones'> & {
  readonly v: typeof VERSION;
  /** Most jobs have none. */
  readonly milestones?: readonly Milestone[] | undefined;
};

/** What records of this version lacked at first. */
const ADDED = { sealedExtras: null, reservation: null } as const satisfies Partial<Job>;
const ADDED_TO_ATTEMPT = { stoppedAtMs: null, logTail: [] } as const satisfies Partial<AttemptRecord>;

/** Named one by one: a member that a later domain adds cannot slip into the stored form unseen. */
export function encodeJobRecord(job: Job): string {
  const record: JobRecordV1 = {
    v: VERSION,
    id: job.id,
    endpointId: job.endpointId,
    accountId: job.accountId,
    origin: job.origin,
    state: job.state,
    attempt: job.attempt,
    charged: job.charged,
    current: job.current,
    createdAtMs: job.createdAtMs,
    queuedAtMs: job.queuedAtMs,
    notBeforeMs: job.notBeforeMs,
    endedAtMs: job.endedAtMs,
    expiresAtMs: job.expiresAtMs,
    retentionMs: job.retentionMs,
    executionTimeoutMs: job.executionTimeoutMs,
    lowPriority: job.lowPriority,
    input: job.input,
    extras: job.extras,
    sealedExtras: job.sealedExtras,
    webhook: job.webhook,
    output: job.output,
    error: job.error,
    chunks: job.chunks,
    history: job.history,
    milestones: job.milestones.length === 0 ? undefined : job.milestones,
    traceparent: job.traceparent,
    reservation: job.reservation,
    mutation: job.mutation,
  };
  return JSON.stringify(record);
}

/** Whatever was written there; never throws. */
export function readJobRecord(body: Uint8Array | string): Reading<Job> {
  const json = readJson(body);
  if (json.kind === 'unreadable') return json;
  const record = json.value as Partial<JobRecordV1> | null;
  if (record?.v !== VERSION) return unreadable(otherVersion(record?.v));
  const reading = readShape<JobRecordV1>(jobRecordShape, record);
  if (reading.kind === 'unreadable') return reading;
  const { v: _, milestones = [], ...job } = reading.value;
  const history = job.history.map((attempt) => ({ ...ADDED_TO_ATTEMPT, ...attempt }));
  return readAs({ ...ADDED, ...job, milestones, history });
}

const otherVersion = (v: unknown): string =>
  typeof v === 'number' ? `it is of version ${v}, and this process reads ${VERSION}` : 'it is no job record';

/** @throws Error when the text is no record of a form that this process knows */
export function decodeJobRecord(text: string): Job {
  const reading = readJobRecord(text);
  if (reading.kind === 'unreadable') throw new Error(`no job record that can be read: ${reading.reason}`);
  return reading.value;
}
