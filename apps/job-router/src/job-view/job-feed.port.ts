import type { DemandMessage } from '@berth/contracts';
import type { JobKey } from '@berth/domain';
import type { JobSighting } from './job-sighting.js';

export interface JobFeedListener {
  changed(sighting: JobSighting): void;
  removed(key: JobKey): void;
  /** It left the queue at a caller's word. */
  purged(key: JobKey): void;
}

/** Every change of every job, and everything that is there when it begins; and the way on for what is made of it. */
export abstract class JobFeed {
  /** Begins to tell `listener`. Once. */
  abstract follow(listener: JobFeedListener): void;
  /** False while something may be missing. */
  abstract get isWhole(): boolean;
  /** Tells the controllers what waits and runs. A hint: what is lost is told again soon. */
  abstract publishDemand(message: DemandMessage): void;
}
