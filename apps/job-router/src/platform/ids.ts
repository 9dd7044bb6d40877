import { PlatformError, type EndpointId, type JobId, type JobKey } from '@berth/domain';

/** Ids become tokens of subjects and keys, so nothing else may pass for one. */
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;

export const isToken = (text: string): boolean => TOKEN.test(text);

/**
 * The key that a path names.
 *
 * @throws PlatformError `job-not-found` where the id could be no job's
 */
export function jobKeyFrom(endpointId: string, jobId: string): JobKey {
  if (!isToken(endpointId) || !isToken(jobId)) throw jobNotFound();
  return { endpointId: endpointId as EndpointId, jobId: jobId as JobId };
}

/** The same for unknown, foreign, expired and purged (API decisions 1.5). */
export const jobNotFound = (): PlatformError =>
  new PlatformError('job-not-found', 'No such job: it never was, or its time to live or retention is over.');
