import type { JobId } from '../ids.js';
import { disappearsAtMs, type Payload } from '../job/index.js';
import { DELIVERIES_KEPT_MAX, REPEATS_MAX, TIMEOUT_GRACE_MS } from './bounds.js';
import type { EndpointCounters, PurgeData } from './facts.js';
import type { DeliveryData, JobBody, JobData, KeyData } from './job-data.js';
import { CarryList, type Carriable, type LogPlace } from './structures/carry-list.js';
import { DueHeap } from './structures/due-heap.js';
import { CompletionWindow } from './structures/completion-window.js';
import { RankedOrder } from './structures/ranked-order.js';
import { TimedMemory, type Remembered } from './structures/timed-memory.js';

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** A job that is not gone. Only `applyFact` and its like change it. */
export interface LivingJob extends Carriable {
  readonly what: 'job';
  readonly data: Mutable<JobData>;
  /** Null: it is too large to be kept, and lies at `place`. */
  body: JobBody | null;
  /** Null: there is none, or it is too large to be kept and lies at `outputPlace`. */
  output: Payload | null;
  /** Null: there is no output. */
  outputPlace: LogPlace | null;
  /** Where it waits: among those that may be taken, or those whose delay still runs. */
  isReady: boolean;
  /** When its holder is given up, Unix ms. It is the owner's alone: no fact tells of renewals. */
  leaseUntilMs: number;
  lifeIndex: number;
  stepIndex: number;
}

/** A delivery with the payloads that it tells. */
export interface DeliveryRecord extends Carriable, Remembered {
  readonly what: 'delivery';
  data: DeliveryData;
  untilMs: number;
  body: JobBody | null;
  output: Payload | null;
  outputPlace: LogPlace | null;
  stepIndex: number;
}

export interface KeyRecord extends Carriable, Remembered {
  readonly what: 'key';
  data: KeyData;
}

/** A take that was answered with jobs. */
interface TakeRecord extends Remembered {
  readonly jobs: { readonly jobId: JobId; readonly attempt: number }[];
}

export type CarriedItem = LivingJob | DeliveryRecord | KeyRecord;

/** Waiting jobs of one priority, in the order in which they start. */
export interface Lane {
  readonly ready: RankedOrder<QueueKey, LivingJob>;
  readonly delayed: RankedOrder<QueueKey, LivingJob>;
}

interface QueueKey {
  readonly data: Pick<JobData, 'queuePlace'>;
}

/** A place in the order of submission, as pages of job lists are cut (`PageKey`). */
export interface SubmissionKey {
  readonly data: Pick<JobData, 'createdAtMs' | 'jobId'>;
}

/**
 * All that the log of one endpoint adds up to. There is one of it, which its owner changes in place by applying facts:
 * a copy with every fact would cost more than everything else that is done for a job.
 */
export interface EndpointState {
  /** Of the last fact. */
  lastAtMs: number;
  term: number;
  isDeleted: boolean;
  /** False while a replay may still meet facts of jobs of which the beginning has gone from the log. */
  isWhole: boolean;
  /** The batch behind which reading began; 0: there was none before. */
  readonly readAfter: number;
  /** All that lies at this sequence or before may have been purged. */
  covers: number;
  counters: Mutable<EndpointCounters>;
  nextOrdinal: number;
  livingBytes: number;
  lastPurge: PurgeData | null;
  runningNormal: number;
  runningLow: number;
  readonly pace: CompletionWindow;
  readonly jobs: Map<JobId, LivingJob>;
  readonly bySubmission: RankedOrder<SubmissionKey, LivingJob>;
  readonly normal: Lane;
  readonly low: Lane;
  /** All jobs, by the end of their life. */
  readonly lives: DueHeap<LivingJob>;
  /** Waiting jobs that may not be taken yet. */
  readonly delays: DueHeap<LivingJob>;
  /** Running jobs, by the end of lease or execution time. */
  readonly running: DueHeap<LivingJob>;
  /** Deliveries that are not over, by name and by the next try. */
  readonly deliveries: Map<string, DeliveryRecord>;
  readonly sending: DueHeap<DeliveryRecord>;
  /** Deliveries that are over. */
  readonly delivered: TimedMemory<DeliveryRecord>;
  readonly keys: TimedMemory<KeyRecord>;
  readonly takes: TimedMemory<TakeRecord>;
  /** Ids of jobs that were removed so young that their submission may come once more. */
  readonly gone: TimedMemory<Remembered>;
  readonly whole: CarryList<CarriedItem>;
}

/**
 * Of what no log has been read yet.
 *
 * @param readAfter what the first batch that is there names as the one before it; 0: it is the very first
 */
export const newEndpointState = (readAfter: number): EndpointState => ({
  lastAtMs: 0,
  term: 0,
  isDeleted: false,
  isWhole: readAfter === 0,
  readAfter,
  covers: 0,
  counters: { completed: 0, failed: 0, cancelled: 0, timedOut: 0, retried: 0 },
  nextOrdinal: 1,
  livingBytes: 0,
  lastPurge: null,
  runningNormal: 0,
  runningLow: 0,
  pace: new CompletionWindow(),
  jobs: new Map(),
  bySubmission: new RankedOrder<SubmissionKey, LivingJob>(compareSubmission),
  normal: newLane(),
  low: newLane(),
  lives: new DueHeap(LIFE_SLOTS),
  delays: new DueHeap({ ...STEP_SLOTS, dueAtMs: ({ data }) => data.notBeforeMs, compare: compareDelay }),
  running: new DueHeap({ ...STEP_SLOTS, dueAtMs: attemptDueAtMs, compare: compareAttempt }),
  deliveries: new Map(),
  sending: new DueHeap(SENDING_SLOTS),
  delivered: new TimedMemory(DELIVERIES_KEPT_MAX),
  keys: new TimedMemory(Number.MAX_SAFE_INTEGER),
  takes: new TimedMemory(REPEATS_MAX),
  gone: new TimedMemory(REPEATS_MAX),
  whole: new CarryList(),
});

export const deliveryName = (jobId: JobId, attempt: number): string => `${jobId}/${attempt}`;

export const laneOf = (state: EndpointState, { isLowPriority }: Pick<JobData, 'isLowPriority'>): Lane =>
  isLowPriority ? state.low : state.normal;

/** When the owner must look at a running attempt. */
const attemptDueAtMs = ({ data, leaseUntilMs }: LivingJob): number => Math.min(leaseUntilMs, overdueAtMs(data));

/** When the owner ends an attempt whose host has not said that its time is over. */
export const overdueAtMs = ({ current }: JobData): number =>
  current === null ? Number.POSITIVE_INFINITY : current.deadlineAtMs + TIMEOUT_GRACE_MS;

/** When the next try may begin. */
export const deliveryNextAtMs = ({ claim, nextAtMs }: DeliveryData): number => Math.max(nextAtMs, claim?.untilMs ?? 0);

const newLane = (): Lane => ({
  ready: new RankedOrder<QueueKey, LivingJob>(compareQueue),
  delayed: new RankedOrder<QueueKey, LivingJob>(compareQueue),
});

const compareQueue = (a: QueueKey, b: QueueKey): number => a.data.queuePlace - b.data.queuePlace;

const compareSubmission = ({ data: a }: SubmissionKey, { data: b }: SubmissionKey): number =>
  a.createdAtMs - b.createdAtMs || (a.jobId < b.jobId ? -1 : Number(a.jobId > b.jobId));

const compareDelay = (a: LivingJob, b: LivingJob): number =>
  a.data.notBeforeMs - b.data.notBeforeMs || a.data.ordinal - b.data.ordinal;

const compareAttempt = (a: LivingJob, b: LivingJob): number =>
  attemptDueAtMs(a) - attemptDueAtMs(b) || a.data.ordinal - b.data.ordinal;

const LIFE_SLOTS = {
  dueAtMs: ({ data }: LivingJob): number => disappearsAtMs(data),
  compare: ({ data: a }: LivingJob, { data: b }: LivingJob): number =>
    disappearsAtMs(a) - disappearsAtMs(b) || a.ordinal - b.ordinal,
  indexOf: ({ lifeIndex }: LivingJob): number => lifeIndex,
  setIndex: (job: LivingJob, index: number): void => {
    job.lifeIndex = index;
  },
};

/** A job is delayed, or it runs, or neither: never both. */
const STEP_SLOTS = {
  indexOf: ({ stepIndex }: LivingJob): number => stepIndex,
  setIndex: (job: LivingJob, index: number): void => {
    job.stepIndex = index;
  },
};

const SENDING_SLOTS = {
  dueAtMs: ({ data }: DeliveryRecord): number => deliveryNextAtMs(data),
  compare: (a: DeliveryRecord, b: DeliveryRecord): number =>
    deliveryNextAtMs(a.data) - deliveryNextAtMs(b.data) || (a.name < b.name ? -1 : Number(a.name > b.name)),
  indexOf: ({ stepIndex }: DeliveryRecord): number => stepIndex,
  setIndex: (delivery: DeliveryRecord, index: number): void => {
    delivery.stepIndex = index;
  },
};
