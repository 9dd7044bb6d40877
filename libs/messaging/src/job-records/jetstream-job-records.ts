import { jobKeyOf, type Job, type JobKey } from '@berth/domain';
import type { JobRecords, StoredJob, WriteOutcome } from '@berth/jobs';
import type { Broker } from '../broker/broker.js';
import { compareAndSet, type Version } from '../broker/compare-and-set.js';
import { readLatest } from '../broker/read-message.js';
import { UnreadableMessageError } from '@berth/domain';
import { isSubjectToken } from '../topology/subject-token.js';
import { STREAMS, recordSubject } from '../topology/subjects.js';
import { encodeJobRecord, readJobRecord } from './job-record-codec.js';
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

  /** @throws UnreadableMessageError for a record that is none */
  async read({ endpointId, jobId }: JobKey): Promise<StoredJob | null> {
    // An id that can be no subject can be no record: a caller's odd id is an unknown one.
    if (!isSubjectToken(endpointId) || !isSubjectToken(jobId)) return null;
    const message = await readLatest(this.#broker, STREAMS.records(jobId), recordSubject({ endpointId, jobId }));
    if (message === null || message.isMarker) return null;
    const reading = readJobRecord(message.body);
    if (reading.kind === 'value' && isOf(reading.value, { endpointId, jobId })) {
      return { job: reading.value, sequence: message.sequence };
    }
    const reason = reading.kind === 'value' ? 'it is the record of another job' : reading.reason;
    const unreadable = { place: 'records', key: message.subject, reason };
    this.#broker.noteUnreadable(unreadable);
    throw new UnreadableMessageError(`The record of job ${jobId} cannot be read.`, unreadable);
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

const isOf = (job: Job, { endpointId, jobId }: JobKey): boolean => job.id === jobId && job.endpointId === endpointId;
