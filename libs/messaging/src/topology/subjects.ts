import type { DeliveryKey, EndpointId, JobId, JobKey } from '@berth/domain';
import type { LeaseKey, ReaderKey, ReservationKey } from '@berth/jobs';
import { deliveryShard, endpointShard, jobShard, logShard, reservationShard } from './shards.js';
import { isSubjectToken, subjectToken } from './subject-token.js';

/** First token of each family; the second is the shard. */
export const FAMILIES = {
  records: 'job',
  recordNotices: 'jobn',
  tickets: 'q',
  ticketNotices: 'qn',
  leases: 'lease',
  readerCursors: 'cur',
  reservations: 'idem',
  chunks: 'out',
  blobs: 'blob',
  deliveries: 'hook',
  checkpoints: 'check',
  logs: 'log',
} as const;

export const STREAMS = {
  records: (jobId: JobId): string => recordStream(jobShard(jobId)),
  tickets: (endpointId: EndpointId): string => ticketStream(endpointShard(endpointId)),
  leases: (endpointId: EndpointId): string => leaseStream(endpointShard(endpointId)),
  readerCursors: (endpointId: EndpointId): string => readerCursorStream(endpointShard(endpointId)),
  reservations: (name: string): string => reservationStream(reservationShard(name)),
  chunks: (jobId: JobId): string => chunkStream(jobShard(jobId)),
  blobs: (jobId: JobId): string => blobStream(jobShard(jobId)),
  events: 'EV',
  checkpoints: 'CHECKPOINT',
  deliveries: (jobId: JobId): string => deliveryStream(deliveryShard(jobId)),
} as const;

export const recordStream = (shard: number): string => `JOBS_${shard}`;
export const ticketStream = (shard: number): string => `QUEUE_${shard}`;
export const leaseStream = (shard: number): string => `LEASE_${shard}`;
export const readerCursorStream = (shard: number): string => `CURSOR_${shard}`;
export const reservationStream = (shard: number): string => `IDEM_${shard}`;
export const chunkStream = (shard: number): string => `OUT_${shard}`;
export const deliveryStream = (shard: number): string => `WEBHOOKS_${shard}`;
export const blobStream = (shard: number): string => `BLOB_${shard}`;
export const logStream = (shard: number): string => `LOG_${shard}`;

/** `q.S.{endpoint}.{n|l}`: the tokens before a ticket's job. */
export type PriorityToken = 'n' | 'l';
export const priorityToken = (isLowPriority: boolean): PriorityToken => (isLowPriority ? 'l' : 'n');

const jobTail = ({ endpointId, jobId }: JobKey): string =>
  `${jobShard(jobId)}.${subjectToken(endpointId)}.${subjectToken(jobId)}`;

const endpointTail = (endpointId: EndpointId): string => `${endpointShard(endpointId)}.${subjectToken(endpointId)}`;

export const recordSubject = (key: JobKey): string => `${FAMILIES.records}.${jobTail(key)}`;

export const recordNoticeSubject = (key: JobKey): string => `${FAMILIES.recordNotices}.${jobTail(key)}`;

export const ticketSubject = ({ endpointId, jobId, attempt }: LeaseKey, priority: PriorityToken): string =>
  `${FAMILIES.tickets}.${endpointTail(endpointId)}.${priority}.${subjectToken(jobId)}.${attempt}`;

/** Every ticket of one endpoint and priority. */
export const ticketFilter = (endpointId: EndpointId, priority: PriorityToken): string =>
  `${FAMILIES.tickets}.${endpointTail(endpointId)}.${priority}.>`;

/** Every doorbell of one endpoint. */
export const ticketNoticeFilter = (endpointId: EndpointId): string =>
  `${FAMILIES.ticketNotices}.${endpointTail(endpointId)}.>`;

export const leaseSubject = ({ endpointId, jobId, attempt }: LeaseKey): string =>
  `${FAMILIES.leases}.${endpointTail(endpointId)}.${subjectToken(jobId)}.${attempt}`;

export const readerCursorSubject = ({ endpointId, jobId, keyId }: ReaderKey): string =>
  `${FAMILIES.readerCursors}.${endpointTail(endpointId)}.${subjectToken(jobId)}.${subjectToken(keyId)}`;

export const reservationSubject = ({ endpointId, name }: ReservationKey): string =>
  `${FAMILIES.reservations}.${reservationShard(name)}.${subjectToken(endpointId)}.${subjectToken(name)}`;

export const chunkSubject = (key: JobKey, attempt: number, index: number): string =>
  `${FAMILIES.chunks}.${jobTail(key)}.${attempt}.${index}`;

/** Every chunk of a job, or of one of its attempts. */
export const chunkFilter = (key: JobKey, attempt?: number): string =>
  `${FAMILIES.chunks}.${jobTail(key)}${attempt === undefined ? '' : `.${attempt}`}.>`;

export const blobPartSubject = (key: JobKey, name: string, part: number): string =>
  `${FAMILIES.blobs}.${jobTail(key)}.${subjectToken(name)}.${part}`;

/** Every part of a job's blobs, or of one of them. */
export const blobFilter = (key: JobKey, name?: string): string =>
  `${FAMILIES.blobs}.${jobTail(key)}${name === undefined ? '' : `.${subjectToken(name)}`}.>`;

export const deliverySubject = ({ endpointId, jobId, attempt }: DeliveryKey): string =>
  `${deliveryHead({ endpointId, jobId })}.${attempt}`;

/** Every delivery of a job. */
export const deliveryFilter = (key: JobKey): string => `${deliveryHead(key)}.*`;

const deliveryHead = ({ endpointId, jobId }: JobKey): string =>
  `${FAMILIES.deliveries}.${deliveryShard(jobId)}.${subjectToken(endpointId)}.${subjectToken(jobId)}`;

export const logSubject = (endpointId: EndpointId): string =>
  `${FAMILIES.logs}.${logShard(endpointId)}.${subjectToken(endpointId)}`;

/** Every log of a shard. */
export const logFilter = (shard: number): string => `${FAMILIES.logs}.${shard}.*`;

/** What names the checkpoint that counts. */
export const CHECKPOINT_SUBJECT = `${FAMILIES.checkpoints}.head`;

/** Every part of every checkpoint. */
export const CHECKPOINT_PARTS = `${FAMILIES.checkpoints}.part.>`;

export const checkpointPartSubject = (id: string, part: number): string =>
  `${FAMILIES.checkpoints}.part.${subjectToken(id)}.${part}`;

/** Anybody who may write to a stream names its subjects, so what is read there is checked as what callers say. */
const isKey = (endpointId: string | undefined, jobId: string | undefined): boolean =>
  isSubjectToken(endpointId ?? '') && isSubjectToken(jobId ?? '');

const ATTEMPT = /^[1-9]\d{0,9}$/;

/** Reads `job.S.{endpoint}.{job}`; null for any other subject. */
export function parseRecordSubject(subject: string): JobKey | null {
  const [family, , endpointId, jobId, ...more] = subject.split('.');
  if (family !== FAMILIES.records || !isKey(endpointId, jobId) || more.length > 0) return null;
  return { endpointId: endpointId as EndpointId, jobId: jobId as JobId };
}

/** Reads `q.S.{endpoint}.{n|l}.{job}.{attempt}`; null for any other subject. */
export function parseTicketSubject(subject: string): (LeaseKey & { readonly isLowPriority: boolean }) | null {
  const [family, shard, endpointId, priority, ...attempted] = subject.split('.');
  if (priority !== 'n' && priority !== 'l') return null;
  const key = parseAttemptTokens([family, shard, endpointId, ...attempted], FAMILIES.tickets);
  return key === null ? null : { ...key, isLowPriority: priority === 'l' };
}

/** Reads `hook.S.{endpoint}.{job}.{attempt}`; null for any other subject. */
export const parseDeliverySubject = (subject: string): DeliveryKey | null =>
  parseAttemptTokens(subject.split('.'), FAMILIES.deliveries);

/** Reads `lease.S.{endpoint}.{job}.{attempt}`; null for any other subject. */
export const parseLeaseSubject = (subject: string): LeaseKey | null =>
  parseAttemptTokens(subject.split('.'), FAMILIES.leases);

/** Reads `log.S.{endpoint}`; null for any other subject, and for one of an endpoint that has its log elsewhere. */
export function parseLogSubject(subject: string): EndpointId | null {
  const endpointId = subject.slice(subject.lastIndexOf('.') + 1) as EndpointId;
  return isSubjectToken(endpointId) && logSubject(endpointId) === subject ? endpointId : null;
}

/** Reads what a survey finds below `blob.S` or `out.S`; null where it names no job. */
export function parseAttachmentSubject(subject: string): (JobKey & { readonly third: string }) | null {
  const [, , endpointId, jobId, third = ''] = subject.split('.');
  return isKey(endpointId, jobId) ? { endpointId: endpointId as EndpointId, jobId: jobId as JobId, third } : null;
}

function parseAttemptTokens(tokens: readonly (string | undefined)[], expected: string): LeaseKey | null {
  const [family, , endpointId, jobId, attempt, ...more] = tokens;
  if (family !== expected || !isKey(endpointId, jobId) || more.length > 0) return null;
  if (attempt === undefined || !ATTEMPT.test(attempt)) return null;
  return { endpointId: endpointId as EndpointId, jobId: jobId as JobId, attempt: Number(attempt) };
}
