import { BUCKETS } from '@berth/contracts';
import { subjectToken } from './subject-token.js';

/** The key-value buckets through which the control plane tells the others what it has decided. */
export type BucketName = (typeof BUCKETS)[keyof typeof BUCKETS];

export const BUCKET_NAMES: readonly BucketName[] = Object.values(BUCKETS);

/** Which router owns which shard of the logs, and which routers live. Only routers read and write it. */
export const CLAIMS_BUCKET = 'shards';

/** Names as the key-value convention has them, so that the broker's own tools can read the buckets. */
export const bucketStream = (bucket: string): string => `KV_${bucket}`;

export const bucketSubjects = (bucket: string): string => `$KV.${bucket}.>`;

export const bucketKeySubject = (bucket: string, key: string): string => `$KV.${bucket}.${subjectToken(key)}`;

/** The bucket where what cannot be read is counted by its place. */
export const bucketPlace = (bucket: string): string => `bucket ${bucket}`;

/**
 * The subject of a key that was found in the bucket, by any writer.
 *
 * @throws RangeError for one that stands for other keys besides itself
 */
export function foundKeySubject(bucket: string, key: string): string {
  const isLiteral = key.split('.').every((token) => token !== '' && token !== '*' && token !== '>');
  if (!isLiteral) throw new RangeError(`not the subject of one key: ${JSON.stringify(key.slice(0, 200))}`);
  return `$KV.${bucket}.${key}`;
}

/** The key in the subject of one of the bucket's messages. */
export const bucketKeyOf = (bucket: string, subject: string): string => subject.slice(`$KV.${bucket}.`.length);
