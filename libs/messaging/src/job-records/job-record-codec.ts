import type { AttemptRecord, Job, Milestone } from '@berth/domain';

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

/** @throws Error when the record was written in a form that this process does not know */
export function decodeJobRecord(text: string): Job {
  const { v, milestones = [], ...job } = JSON.parse(text) as JobRecordV1;
  // The literal type says what we write, not what a newer process may have written.
  if ((v as number) !== VERSION) throw new Error(`job record of version ${String(v)}: this process reads ${VERSION}`);
  return { ...ADDED, ...job, milestones, history: job.history.map((attempt) => ({ ...ADDED_TO_ATTEMPT, ...attempt })) };
}
