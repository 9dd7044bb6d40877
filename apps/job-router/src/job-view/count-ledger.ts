import { isEnd, requeuesOf, type EndpointId, type JobState } from '@berth/domain';
import { JOB_SHARDS, jobShard, type CounterCheckpoint, type JobCounters } from '@berth/messaging';
import type { JobSighting } from './job-sighting.js';

/** The counters without their place in the events, which the feed knows. */
export type CountDraft = Omit<CounterCheckpoint, 'evSequence'>;

type RecordVersion = Pick<JobSighting, 'jobId' | 'recordSequence'>;

type Counters = { -readonly [Name in keyof JobCounters]: number };

const NOTHING: JobCounters = { completed: 0, failed: 0, cancelled: 0, timedOut: 0, retried: 0 };

const COUNTER_OF_STATE = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TIMED_OUT: 'timedOut',
  IN_QUEUE: 'retried',
  IN_PROGRESS: 'retried',
} as const satisfies Record<JobState, keyof JobCounters>;

const zeros = (): number[] => new Array<number>(JOB_SHARDS).fill(0);

/**
 * The counters of all endpoints, each milestone of each job once, whatever comes twice, late, or from a checkpoint.
 * Of a job that is known a version counts what lies behind the known one. For all others there is one number per job
 * shard: events come in the order of their shard's records, so what it says has come.
 */
export class CountLedger {
  readonly #endpoints = new Map<EndpointId, Counters>();
  /** By shard: up to here the checkpoint has counted. */
  #restored: readonly number[] = zeros();
  /** By shard: the last version that was told, by an event or as a record that was found ahead of its event. */
  #seen = zeros();
  /** By shard: the last version that an event told. */
  #heard = zeros();
  /** By shard: up to here nothing is missing. It follows `#heard` while the view is whole. */
  #counted = zeros();
  #isWhole = false;
  #draft: { readonly recordSequences: readonly number[]; readonly endpoints: Map<EndpointId, Counters> } | null = null;

  /** Before anything was told. */
  restore({ recordSequences, endpoints }: CountDraft): void {
    this.#restored = recordSequences;
    this.#seen = [...recordSequences];
    this.#heard = [...recordSequences];
    this.#counted = [...recordSequences];
    for (const [endpointId, counters] of endpoints) this.#endpoints.set(endpointId, { ...counters });
  }

  of(endpointId: EndpointId): JobCounters {
    return this.#endpoints.get(endpointId) ?? NOTHING;
  }

  /** True when an event of a job that is not known (any more) tells what has been told before. */
  isOld({ jobId, recordSequence }: RecordVersion): boolean {
    return recordSequence <= this.#countedOf(jobShard(jobId));
  }

  /** Counts what a version newer than `before` brings. */
  count(before: JobSighting | undefined, sighting: JobSighting): void {
    this.#see(sighting);
    if (before === undefined && this.isOld(sighting)) return;
    const behind = Math.max(this.#restored[jobShard(sighting.jobId)] ?? 0, before?.recordSequence ?? 0);
    for (const { sequence, state } of sighting.milestones ?? []) {
      if (sequence > behind) this.#add(sighting, sequence, { [COUNTER_OF_STATE[state]]: 1 });
    }
    if (sighting.recordSequence > behind) this.#countItself(before, sighting);
  }

  /** An event was told, be it of a removal; and everything of its shard before it. */
  hear({ jobId, recordSequence }: RecordVersion): void {
    const shard = jobShard(jobId);
    this.#heard[shard] = Math.max(this.#heard[shard] ?? 0, recordSequence);
    if (this.#isWhole) this.#counted[shard] = Math.max(this.#countedOf(shard), recordSequence);
  }

  /** All records were told after the events: what events have passed over has come too. */
  becomeWhole(): void {
    this.#isWhole = true;
    this.#counted = this.#counted.map((counted, shard) => Math.max(counted, this.#heard[shard] ?? 0));
  }

  /** Events may be missing from here on. */
  interrupt(): void {
    this.#isWhole = false;
    this.#draft = null;
  }

  forget(endpointId: EndpointId): void {
    this.#endpoints.delete(endpointId);
    this.#draft?.endpoints.delete(endpointId);
  }

  /**
   * Begins a checkpoint of what is counted now; false while the view is not whole. Some of that may come ahead of its
   * event, and an event is passed over when its record is written over at once: then the version after it tells of it, a
   * moment later. So the checkpoint is open for such late milestones until it is settled.
   */
  begin(): boolean {
    if (!this.#isWhole) return false;
    const endpoints = new Map([...this.#endpoints].map(([id, counters]) => [id, { ...counters }]));
    this.#draft = { recordSequences: [...this.#seen], endpoints };
    return true;
  }

  /** The checkpoint that was begun last; null when the view was not whole all the while, or events are still behind. */
  settle(): CountDraft | null {
    const draft = this.#draft;
    this.#draft = null;
    const isBehind = draft?.recordSequences.some((sequence, shard) => this.#countedOf(shard) < sequence);
    return isBehind === true ? null : draft;
  }

  /** Records of before there were milestones lack them: then only what has grown since the known version is new. */
  #countItself(before: JobSighting | undefined, sighting: JobSighting): void {
    const { recordSequence, state, attempt } = sighting;
    const requeues = Math.min(requeuesOf(sighting), attempt - (before?.attempt ?? 1));
    if (requeues > 0) this.#add(sighting, recordSequence, { retried: requeues });
    const isSameEnd = before?.state === state && before.attempt === attempt;
    if (isEnd(sighting) && !isSameEnd) this.#add(sighting, recordSequence, { [COUNTER_OF_STATE[state]]: 1 });
  }

  #see({ jobId, recordSequence }: RecordVersion): void {
    const shard = jobShard(jobId);
    this.#seen[shard] = Math.max(this.#seen[shard] ?? 0, recordSequence);
  }

  #add({ endpointId, jobId }: JobSighting, sequence: number, counts: Partial<JobCounters>): void {
    addTo(this.#endpoints, endpointId, counts);
    const draft = this.#draft;
    if (draft !== null && sequence <= (draft.recordSequences[jobShard(jobId)] ?? 0)) {
      addTo(draft.endpoints, endpointId, counts);
    }
  }

  #countedOf(shard: number): number {
    return this.#counted[shard] ?? 0;
  }
}

function addTo(endpoints: Map<EndpointId, Counters>, endpointId: EndpointId, counts: Partial<JobCounters>): void {
  let counters = endpoints.get(endpointId);
  if (counters === undefined) {
    counters = { ...NOTHING };
    endpoints.set(endpointId, counters);
  }
  for (const name of Object.keys(counts) as (keyof JobCounters)[]) counters[name] += counts[name] ?? 0;
}
