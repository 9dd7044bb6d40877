import { isEnded, milestonesBehind, type EndpointId, type Job, type JobId, type JobState } from '@berth/domain';
import { JOB_SHARDS, jobShard, type JobCounters } from '@berth/messaging';
import type { JobSighting } from '../../src/job-view/job-sighting.js';

export const ENDPOINTS = ['a', 'b'] as readonly string[] as readonly EndpointId[];

const T = 1_750_000_000_000;
const SLOTS = 6;

export const CHANGES = [
  'take',
  'requeue',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'TIMED_OUT',
  'retry',
  'rewrite',
] as const;
export type Change = (typeof CHANGES)[number] | 'expire';

interface Version {
  readonly sighting: JobSighting;
  readonly isRemoved: boolean;
}

export interface WorldEvent extends Version {
  readonly evSequence: number;
}

type Core = Pick<Job, 'state' | 'attempt' | 'milestones'>;

/** Ids of jobs that share two shards, so that events pass over what others have written over. */
function* crowdedIds(): Generator<JobId> {
  for (let n = 0; ; n += 1) {
    const id = `job-${n}` as JobId;
    if (jobShard(id) < 2) yield id;
  }
}

/** Records of a few jobs, and `EV`, which follows them late and passes over what was written over meanwhile. */
export class JobWorld {
  /** What has really happened. */
  readonly truth = new Map<EndpointId, { -readonly [Name in keyof JobCounters]: number }>();
  events: WorldEvent[] = [];
  readonly #records = new Map<JobId, Version>();
  readonly #ids = crowdedIds();
  readonly #jobs: { id: JobId; core: Core | null }[] = [];
  readonly #sequences = new Array<number>(JOB_SHARDS).fill(0);
  #sourced = new Array<number>(JOB_SHARDS).fill(0);
  #evSequence = 0;

  constructor() {
    for (const endpointId of ENDPOINTS) {
      this.truth.set(endpointId, { completed: 0, failed: 0, cancelled: 0, timedOut: 0, retried: 0 });
    }
    for (let slot = 0; slot < SLOTS; slot += 1) this.#jobs.push({ id: this.#newId(), core: null });
  }

  get evLast(): number {
    return this.#evSequence;
  }

  /** What does not apply to the job happens not. */
  change(slot: number, change: Change): void {
    const job = this.#jobs[slot % SLOTS]!;
    const { id, core } = job;
    const counters = this.truth.get(endpointOf(id))!;
    if (core === null) {
      job.core = this.#write(id, { state: 'IN_QUEUE', attempt: 1, milestones: [] });
      return;
    }
    if (change === 'expire') {
      const record = this.#records.get(id)!;
      // A record outlives its event by minutes.
      if (record.sighting.recordSequence > this.#sourced[jobShard(id)]!) return;
      this.#put({ sighting: record.sighting, isRemoved: true });
      this.#jobs[slot % SLOTS] = { id: this.#newId(), core: null };
      return;
    }
    const next = changed(core, change);
    if (next === null) return;
    if (next.attempt > core.attempt) counters.retried += 1;
    if (isEnded(next.state) && change !== 'rewrite') counters[COUNTERS[next.state as keyof typeof COUNTERS]] += 1;
    job.core = this.#write(id, next);
  }

  /** `EV` takes the next message that a shard still has. */
  source(shard: number): boolean {
    const after = this.#sourced[shard]!;
    const next = [...this.#records.values()]
      .filter(({ sighting }) => jobShard(sighting.jobId) === shard && sighting.recordSequence > after)
      .toSorted((a, b) => a.sighting.recordSequence - b.sighting.recordSequence)[0];
    if (next === undefined) return false;
    this.#sourced[shard] = next.sighting.recordSequence;
    this.#evSequence += 1;
    this.events.push({ ...next, evSequence: this.#evSequence });
    return true;
  }

  sourceAll(): void {
    for (let shard = 0; shard < JOB_SHARDS; shard += 1) while (this.source(shard));
  }

  /** `EV` drops what it has. */
  dropEvents(): void {
    this.events = [];
  }

  /** `EV` loses its last events, and fetches them again under other numbers. */
  loseTail(count: number): void {
    this.events = this.events.slice(0, Math.max(0, this.events.length - count));
    this.#evSequence = this.events.at(-1)?.evSequence ?? 0;
    this.#sourced = this.#sourced.map((_, shard) =>
      Math.max(0, ...this.events.filter(({ sighting }) => jobShard(sighting.jobId) === shard).map(sequenceOf)),
    );
  }

  records(): readonly JobSighting[] {
    return [...this.#records.values()].filter(({ isRemoved }) => !isRemoved).map(({ sighting }) => sighting);
  }

  #write(jobId: JobId, core: Core): Core {
    const before = this.#jobs.find(({ id }) => id === jobId)?.core ?? null;
    const sequence = this.#records.get(jobId)?.sighting.recordSequence ?? 0;
    const milestones = before === null ? [] : milestonesBehind(before, sequence);
    const next = { ...core, milestones };
    this.#put({ sighting: sightingOf(jobId, next), isRemoved: false });
    return next;
  }

  #put({ sighting, isRemoved }: Version): void {
    const shard = jobShard(sighting.jobId);
    this.#sequences[shard]! += 1;
    this.#records.set(sighting.jobId, {
      sighting: { ...sighting, recordSequence: this.#sequences[shard]! },
      isRemoved,
    });
  }

  #newId(): JobId {
    return this.#ids.next().value as JobId;
  }
}

const COUNTERS = { COMPLETED: 'completed', FAILED: 'failed', CANCELLED: 'cancelled', TIMED_OUT: 'timedOut' } as const;

const sequenceOf = ({ sighting }: Version): number => sighting.recordSequence;

const endpointOf = (jobId: JobId): EndpointId => ENDPOINTS[Number(jobId.slice(4)) % 2]!;

function changed(core: Core, change: Exclude<Change, 'expire'>): Core | null {
  const { state, attempt } = core;
  const from = (...states: readonly JobState[]): boolean => states.includes(state);
  switch (change) {
    case 'take':
      return from('IN_QUEUE') ? { ...core, state: 'IN_PROGRESS' } : null;
    case 'requeue':
      return from('IN_PROGRESS') ? { ...core, state: 'IN_QUEUE', attempt: attempt + 1 } : null;
    case 'retry':
      return from('FAILED', 'TIMED_OUT') ? { ...core, state: 'IN_QUEUE', attempt: attempt + 1 } : null;
    case 'CANCELLED':
      return from('IN_QUEUE', 'IN_PROGRESS') ? { ...core, state: change } : null;
    case 'rewrite':
      return core;
    case 'COMPLETED':
    case 'FAILED':
    case 'TIMED_OUT':
      return from('IN_PROGRESS') ? { ...core, state: change } : null;
  }
}

const sightingOf = (jobId: JobId, { state, attempt, milestones }: Core): JobSighting => ({
  endpointId: endpointOf(jobId),
  jobId,
  recordSequence: 0,
  state,
  attempt,
  charged: 0,
  isLowPriority: false,
  hasWebhook: false,
  createdAtMs: T,
  queuedAtMs: T,
  notBeforeMs: T,
  expiresAtMs: T + 3_600_000,
  startedAtMs: null,
  endedAtMs: isEnded(state) ? T : null,
  deadlineAtMs: null,
  hostId: null,
  token: null,
  ...(milestones.length === 0 ? {} : { milestones }),
});
