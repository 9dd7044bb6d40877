import { JOB_STATES, isPurged, type HostId, type JobKey, type JobState, type Milestone } from '@berth/domain';
import { BROKER_HEADERS } from '../broker/headers.js';
import type { TailMessage } from '../broker/tail-session.js';
import { RECORD_HEADERS, milestonesFrom } from '../job-records/record-headers.js';
import { parseRecordSubject } from '../topology/subjects.js';

interface JobEventBase extends JobKey {
  /**
   * Version of the record. Of one job the event with the larger one is the newer, however it came; an event that is not
   * newer than what is known must be dropped.
   */
  readonly recordSequence: number;
  /** Place in `EV`; null when the record itself was read. */
  readonly evSequence: number | null;
}

/** A job as its record's headers describe it. Instants are Unix milliseconds. */
export interface JobChanged extends JobEventBase {
  readonly state: JobState;
  readonly attempt: number;
  readonly charged: number;
  readonly isLowPriority: boolean;
  /** Somebody shall be told how it ends. */
  readonly hasWebhook: boolean;
  readonly createdAtMs: number;
  readonly queuedAtMs: number;
  readonly notBeforeMs: number;
  readonly expiresAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly deadlineAtMs: number | null;
  readonly hostId: HostId | null;
  /** Of the attempt that owns the job, or ended it; null while queued. */
  readonly token: string | null;
  /** Earlier versions that count. Absent where there are none, which is most jobs: views hold many of these. */
  readonly milestones?: readonly Milestone[];
}

/** The job is gone. What maintenance removes with its whole endpoint goes without an event. */
export interface JobRemoved extends JobEventBase {
  readonly state: 'removed';
  /** `purged`: it left the queue at a caller's word, so nobody is to be told and nothing is to be tidied. */
  readonly reason: 'expired' | 'purged';
}

export type JobEvent = JobChanged | JobRemoved;

/** What a `Date` can hold. */
const INSTANT_MAX_MS = 8.64e15;

/** Reads a message of `EV`, or of a record stream itself; null when it is no version of a job's record. */
export function readJobEvent(message: TailMessage, from: 'events' | 'records'): JobEvent | null {
  const key = parseRecordSubject(message.subject);
  const { headers } = message;
  if (key === null || headers === undefined) return null;
  const position =
    from === 'events'
      ? { evSequence: message.sequence, recordSequence: sourceSequence(headers.get(BROKER_HEADERS.streamSource)) }
      : { evSequence: null, recordSequence: message.sequence };
  if (headers.has(BROKER_HEADERS.markerReason)) return { ...key, ...position, state: 'removed', reason: 'expired' };
  const values = new Map([...headers].map(([name, [value]]) => [name, value]));
  const described = describe(values);
  if (!isSound(described)) return null;
  // What a purge leaves of the record lies there for a while, but the job is gone.
  if (isPurged(described)) return { ...key, ...position, state: 'removed', reason: 'purged' };
  return { ...key, ...position, ...described };
}

/** `JOBS_3 17 > > job.3.ep.job …`: the stream that a sourced message comes from, and its sequence there. */
const sourceSequence = (source: string): number => Number(source.split(' ')[1] ?? 0);

function describe(values: ReadonlyMap<string, string | undefined>): Omit<JobChanged, keyof JobEventBase> {
  const text = (name: string): string => values.get(name) ?? '';
  const milestones = values.get(RECORD_HEADERS.milestones);
  const instant = (name: string): number | null => (values.has(name) ? Number(values.get(name)) : null);
  return {
    state: text(RECORD_HEADERS.state) as JobState,
    attempt: Number(text(RECORD_HEADERS.attempt)),
    charged: Number(text(RECORD_HEADERS.charged)),
    isLowPriority: text(RECORD_HEADERS.priority) === 'l',
    hasWebhook: values.has(RECORD_HEADERS.webhook),
    createdAtMs: instant(RECORD_HEADERS.createdAt) ?? Number(text(RECORD_HEADERS.queuedAt)),
    queuedAtMs: Number(text(RECORD_HEADERS.queuedAt)),
    notBeforeMs: Number(text(RECORD_HEADERS.notBefore)),
    expiresAtMs: Number(text(RECORD_HEADERS.expiresAt)),
    startedAtMs: instant(RECORD_HEADERS.startedAt),
    endedAtMs: instant(RECORD_HEADERS.endedAt),
    deadlineAtMs: instant(RECORD_HEADERS.deadlineAt),
    hostId: values.has(RECORD_HEADERS.host) ? (text(RECORD_HEADERS.host) as HostId) : null,
    token: values.has(RECORD_HEADERS.token) ? text(RECORD_HEADERS.token) : null,
    ...(milestones === undefined ? {} : { milestones: milestonesFrom(milestones) }),
  };
}

/** Views sort and count by these: one version that is no number would spoil what they know of all the others. */
function isSound(job: Omit<JobChanged, keyof JobEventBase>): boolean {
  const { attempt, charged, createdAtMs, deadlineAtMs, endedAtMs, expiresAtMs, notBeforeMs, queuedAtMs, startedAtMs } =
    job;
  const counts = [attempt, charged, ...(job.milestones ?? []).flatMap((each) => [each.sequence, each.attempt])];
  const instants = [
    createdAtMs,
    queuedAtMs,
    notBeforeMs,
    expiresAtMs,
    startedAtMs ?? 0,
    endedAtMs ?? 0,
    deadlineAtMs ?? 0,
  ];
  const states = [job.state, ...(job.milestones ?? []).map(({ state }) => state)];
  return (
    states.every((state) => JOB_STATES.includes(state)) &&
    counts.every((count) => Number.isSafeInteger(count) && count >= 0) &&
    instants.every((instant) => Number.isFinite(instant) && Math.abs(instant) <= INSTANT_MAX_MS)
  );
}
