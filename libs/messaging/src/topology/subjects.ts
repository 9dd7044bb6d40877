import type { EndpointId, JobId, JobKey } from '@berth/domain';
import type { LeaseKey } from '@berth/jobs';
import { endpointShard, jobShard } from './shards.js';
import { subjectToken } from './subject-token.js';

/** First token of each family; the second is the shard. */
export const FAMILIES = {
  records: 'job',
  recordNotices: 'jobn',
  tickets: 'q',
  ticketNotices: 'qn',
  leases: 'lease',
  chunks: 'out',
  blobs: 'blob',
  webhooks: 'wh',
} as const;

export const STREAMS = {
  records: (jobId: JobId): string => recordStream(jobShard(jobId)),
  tickets: (endpointId: EndpointId): string => ticketStream(endpointShard(endpointId)),
  leases: (endpointId: EndpointId): string => leaseStream(endpointShard(endpointId)),
  chunks: (jobId: JobId): string => chunkStream(jobShard(jobId)),
  blobs: (jobId: JobId): string => blobStream(jobShard(jobId)),
  events: 'EV',
  webhooks: 'WEBHOOK',
} as const;

export const recordStream = (shard: number): string => `JOBS_${shard}`;
export const ticketStream = (shard: number): string => `QUEUE_${shard}`;
export const leaseStream = (shard: number): string => `LEASE_${shard}`;
export const chunkStream = (shard: number): string => `OUT_${shard}`;
export const blobStream = (shard: number): string => `BLOB_${shard}`;

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

export const chunkSubject = (key: JobKey, attempt: number, index: number): string =>
  `${FAMILIES.chunks}.${jobTail(key)}.${attempt}.${index}`;

/** Every chunk of a job, or of one of its attempts. */
export const chunkFilter = (key: JobKey, attempt?: number): string =>
  `${FAMILIES.chunks}.${jobTail(key)}${attempt === undefined ? '' : `.${attempt}`}.>`;

export const blobPartSubject = (key: JobKey, name: string, part: number): string =>
  `${FAMILIES.blobs}.${jobTail(key)}.${subjectToken(name)}.${part}`;

export const blobFilter = (key: JobKey): string => `${FAMILIES.blobs}.${jobTail(key)}.>`;

export const webhookSubject = ({ endpointId, jobId, attempt }: LeaseKey): string =>
  `${FAMILIES.webhooks}.${subjectToken(endpointId)}.${subjectToken(jobId)}.${attempt}`;

/** Reads `job.S.{endpoint}.{job}`; null for any other subject. */
export function parseRecordSubject(subject: string): JobKey | null {
  const [family, , endpointId, jobId, ...more] = subject.split('.');
  if (family !== FAMILIES.records || jobId === undefined || more.length > 0) return null;
  return { endpointId: endpointId as EndpointId, jobId: jobId as JobId };
}

/** Reads `q.S.{endpoint}.{n|l}.{job}.{attempt}`; null for any other subject. */
export function parseTicketSubject(subject: string): (LeaseKey & { readonly isLowPriority: boolean }) | null {
  const [family, , endpointId, priority, jobId, attempt, ...more] = subject.split('.');
  if (family !== FAMILIES.tickets || attempt === undefined || more.length > 0) return null;
  return {
    endpointId: endpointId as EndpointId,
    jobId: jobId as JobId,
    attempt: Number(attempt),
    isLowPriority: priority === 'l',
  };
}

/** Reads `lease.S.{endpoint}.{job}.{attempt}`; null for any other subject. */
export function parseLeaseSubject(subject: string): LeaseKey | null {
  const [family, , endpointId, jobId, attempt, ...more] = subject.split('.');
  if (family !== FAMILIES.leases || attempt === undefined || more.length > 0) return null;
  return { endpointId: endpointId as EndpointId, jobId: jobId as JobId, attempt: Number(attempt) };
}
