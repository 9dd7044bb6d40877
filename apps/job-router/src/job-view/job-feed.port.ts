import type { DemandMessage } from '@berth/contracts';
import type { JobKey } from '@berth/domain';
import type { CounterCheckpoint, CounterCheckpoints } from '@berth/messaging';
import type { JobSighting } from './job-sighting.js';

export interface JobFeedListener {
  /** Before everything else, if at all. */
  restored(checkpoint: CounterCheckpoint): void;
  /** `event`: in the order of its shard. `record`: as it was found, at any time. */
  changed(sighting: JobSighting, from: 'event' | 'record'): void;
  removed(key: JobKey): void;
  /** It left the queue at a caller's word. */
  purged(key: JobKey): void;
  /** After each event: of its shard all older ones have come. */
  heard(version: Pick<JobSighting, 'jobId' | 'recordSequence'>): void;
  /** Every record there is was told after the events. */
  whole(): void;
  /** Something may be missing until the view is whole again. */
  interrupted(): void;
}

/** The last checkpoint, every change of every job since, and everything that is there when it begins; and the way on for what is made of it. */
export abstract class JobFeed {
  /** Begins to tell `listener`. Once. */
  abstract follow(listener: JobFeedListener): void;
  /** False while something may be missing. */
  abstract get isWhole(): boolean;
  /** Place in `EV` up to which everything was told. */
  abstract get evSequence(): number;
  abstract readonly checkpoints: Pick<CounterCheckpoints, 'hasOtherWritten' | 'write'>;
  /** Tells the controllers what waits and runs. A hint: what is lost is told again soon. */
  abstract publishDemand(message: DemandMessage): void;
}
