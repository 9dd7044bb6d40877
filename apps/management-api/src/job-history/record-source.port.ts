import type { Job, JobKey } from '@berth/domain';
import type { EventBatch, EventPosition } from '@berth/messaging';
import type { RecordVersion } from './job-history-records.port.js';

/** A record and the number of its version. */
export interface NumberedRecord {
  readonly job: Job;
  readonly sequence: number;
}

/** The truth about jobs, as the projector reads it. */
export interface RecordSource {
  /** @throws PlatformError `service-unavailable` */
  events(after: EventPosition | null): Promise<EventBatch>;
  /** The version of every record that concerns the history. @throws PlatformError `service-unavailable` */
  versions(signal: AbortSignal): AsyncIterable<readonly RecordVersion[]>;
  /** Null also for what a purge has left. @throws PlatformError `service-unavailable`; Error where this process cannot read the record */
  read(key: JobKey): Promise<NumberedRecord | null>;
}
