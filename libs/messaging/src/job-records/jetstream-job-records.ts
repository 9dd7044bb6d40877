import { jobKeyOf, type Job, type JobKey } from '@berth/domain';
import type { JobRecords, StoredJob, WriteOutcome } from '@berth/jobs';
import type { Broker } from '../broker/broker.js';
import { compareAndSet, type Version } from '../broker/compare-and-set.js';
import { readLatest } from '../broker/read-message.js';
import { decodeText } from '../broker/text.js';
import { isSubjectToken } from '../topology/subject-token.js';
import { STREAMS, recordSubject } from '../topology/subjects.js';
import { decodeJobRecord, encodeJobRecord } from './job-record-codec.js';
import { recordHeaders } from './record-headers.js';
import type { Admission } from './storage-admission.js';

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
    const body = encodeJobRecord(job);
    this.#admission?.admit(STREAMS.records(job.id), body.length);
    return this.#write(job, { body, expectedSequence: 0, ttlMs });
  }

  replace(job: Job, expectedSequence: number, ttlMs: number): Promise<WriteOutcome> {
    return this.#write(job, { body: encodeJobRecord(job), expectedSequence, ttlMs });
  }

  #write(job: Job, write: Pick<Version, 'body' | 'expectedSequence' | 'ttlMs'>): Promise<WriteOutcome> {
    const subject = recordSubject(jobKeyOf(job));
    return compareAndSet(this.#broker, { subject, headers: recordHeaders(job), ...write });
  }
}
