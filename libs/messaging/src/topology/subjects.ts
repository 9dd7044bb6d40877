import type { EndpointId, JobId, JobKey } from '@berth/domain';
import type { ReaderKey } from '@berth/payloads';
import { endpointShard, jobShard, logShard } from './shards.js';
import { isSubjectToken, subjectToken } from './subject-token.js';

/** First token of each family; the second is the shard. */
export const FAMILIES = {
  readerCursors: 'cur',
  chunks: 'out',
  blobs: 'blob',
  logs: 'log',
} as const;

export const STREAMS = {
  readerCursors: (endpointId: EndpointId): string => readerCursorStream(endpointShard(endpointId)),
  chunks: (jobId: JobId): string => chunkStream(jobShard(jobId)),
  blobs: (jobId: JobId): string => blobStream(jobShard(jobId)),
} as const;

export const readerCursorStream = (shard: number): string => `CURSOR_${shard}`;
export const chunkStream = (shard: number): string => `OUT_${shard}`;
export const blobStream = (shard: number): string => `BLOB_${shard}`;
export const logStream = (shard: number): string => `LOG_${shard}`;

const jobTail = ({ endpointId, jobId }: JobKey): string =>
  `${jobShard(jobId)}.${subjectToken(endpointId)}.${subjectToken(jobId)}`;

const endpointTail = (endpointId: EndpointId): string => `${endpointShard(endpointId)}.${subjectToken(endpointId)}`;

export const readerCursorSubject = ({ endpointId, jobId, keyId }: ReaderKey): string =>
  `${FAMILIES.readerCursors}.${endpointTail(endpointId)}.${subjectToken(jobId)}.${subjectToken(keyId)}`;

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

/** All that one endpoint has of payload parts and chunks in one shard. */
export const attachmentFilters = (
  shard: number,
  endpointId: EndpointId,
): { readonly blobs: string; readonly chunks: string } => ({
  blobs: `${FAMILIES.blobs}.${shard}.${subjectToken(endpointId)}.>`,
  chunks: `${FAMILIES.chunks}.${shard}.${subjectToken(endpointId)}.>`,
});

export const logSubject = (endpointId: EndpointId): string =>
  `${FAMILIES.logs}.${logShard(endpointId)}.${subjectToken(endpointId)}`;

/** Every log of a shard. */
export const logFilter = (shard: number): string => `${FAMILIES.logs}.${shard}.*`;

/** Reads `log.S.{endpoint}`; null for any other subject, and for one of an endpoint that has its log elsewhere. */
export function parseLogSubject(subject: string): EndpointId | null {
  const endpointId = subject.slice(subject.lastIndexOf('.') + 1) as EndpointId;
  return isSubjectToken(endpointId) && logSubject(endpointId) === subject ? endpointId : null;
}
