import { jobKeyOf, type Job, type JobKey } from '@berth/domain';
import type { JobRecords, StoredJob, WriteOutcome } from '@berth/jobs';
import type { Broker } from '../broker/broker.js';
import { publishMessage } from '../broker/publish-message.js';
import { readLatest } from '../broker/read-message.js';
import { decodeText } from '../broker/text.js';
import { isSubjectToken } from '../topology/subject-token.js';
import { STREAMS, recordSubject } from '../topology/subjects.js';
import { decodeJobRecord, encodeJobRecord } from './job-record-codec.js';
import { recordHeaders } from './record-headers.js';

/** Refuses new jobs while there is still room for what the accepted ones have to write. */
export interface Admission {
  /** @throws PlatformError `service-unavailable` */
  admit(stream: string): void;
}

/** One message per job and stream subject; the broker's compare-and-set on its sequence decides every race. */
export class JetStreamJobRecords implements JobRecords {
  readonly #broker: Broker;
  readonly #admission: Admission | undefined;

  constructor(broker: Broker, admission?: Admission) {
    this.#broker = broker;
    this.#admission = admission;
  }

  async read({ endpointId, jobId }: JobKey): Promise<StoredJob | null> {
    // An id that can be no subject can be no record: a caller's odd id is an unknown one.
    if (!isSubjectToken(endpointId) || !isSubjectToken(jobId)) return null;
    const message = await readLatest(this.#broker, STREAMS.records(jobId), recordSubject({ endpointId, jobId }));
    if (message === null || message.isMarker) return null;
    return { job: decodeJobRecord(decodeText(message.body)), sequence: message.sequence };
  }

  async create(job: Job, ttlMs: number): Promise<WriteOutcome> {
    this.#admission?.admit(STREAMS.records(job.id));
    return this.replace(job, 0, ttlMs);
  }

  async replace(job: Job, expectedSequence: number, ttlMs: number): Promise<WriteOutcome> {
    const outcome = await publishMessage(this.#broker, {
      subject: recordSubject(jobKeyOf(job)),
      body: encodeJobRecord(job),
      headers: recordHeaders(job),
      ttlMs,
      expectedSequence,
    });
    switch (outcome.kind) {
      case 'stored':
        return { kind: 'written', sequence: outcome.sequence };
      case 'conflict':
        return { kind: 'conflict' };
      case 'unknown':
        return { kind: 'unknown' };
      case 'occupied':
        throw new Error(`stream ${STREAMS.records(job.id)} discards per subject: not the topology we made`);
    }
  }
}
