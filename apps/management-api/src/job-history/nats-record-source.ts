import { concernsHistory, isPurged, type JobKey } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import {
  JetStreamJobRecords,
  JobEventSource,
  surveyRecords,
  type Broker,
  type EventBatch,
  type EventPosition,
  type JobChanged,
} from '@berth/messaging';
import type { RecordVersion } from './job-history-records.port.js';
import type { NumberedRecord, RecordSource } from './record-source.port.js';

/** Later than any clock; a database could not even compare it. */
const INSTANT_MAX_MS = 1e14;

const isWanted = (record: JobChanged): boolean => concernsHistory(record) && record.createdAtMs < INSTANT_MAX_MS;

/** The broker's streams, read and never written. */
export class NatsRecordSource implements RecordSource {
  readonly #broker: Broker;
  readonly #clock: Clock;
  readonly #events: JobEventSource;
  readonly #records: JetStreamJobRecords;

  constructor(broker: Broker, clock: Clock) {
    this.#broker = broker;
    this.#clock = clock;
    this.#events = new JobEventSource({ broker });
    this.#records = new JetStreamJobRecords(broker);
  }

  events(after: EventPosition | null): Promise<EventBatch> {
    return this.#events.read(after);
  }

  versions(signal: AbortSignal): AsyncIterable<readonly RecordVersion[]> {
    return surveyRecords({ broker: this.#broker, clock: this.#clock, isWanted }, signal);
  }

  async read(key: JobKey): Promise<NumberedRecord | null> {
    const stored = await this.#records.read(key);
    return stored === null || isPurged(stored.job) ? null : stored;
  }
}
