import type { Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { tellStream } from '../broker/tell-stream.js';
import { readJobEvent, type JobChanged } from '../job-view/job-event.js';
import { JOB_SHARDS } from '../topology/shards.js';
import { recordStream } from '../topology/subjects.js';

export interface RecordSurveyOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  /** Which records are told. */
  readonly isWanted: (record: JobChanged) => boolean;
}

/**
 * What every record says of itself in its headers, one list per shard, as it was when the shard was read.
 *
 * @throws PlatformError `service-unavailable` when a shard could not be read to its end
 */
export async function* surveyRecords(
  { broker, clock, isWanted }: RecordSurveyOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly JobChanged[]> {
  for (let shard = 0; shard < JOB_SHARDS && !signal.aborted; shard += 1) {
    const found: JobChanged[] = [];
    await tellStream({
      broker,
      clock,
      stream: recordStream(shard),
      signal,
      onMessage: (message) => {
        const event = readJobEvent(message, 'records');
        if (event !== null && event.state !== 'removed' && isWanted(event)) found.push(event);
      },
    });
    yield found;
  }
}
