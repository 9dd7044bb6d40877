import { fullBucket, takeToken, type Bucket, type BucketLimit } from './token-bucket.js';

/** How much one asker may ask. */
export interface AskingLimit {
  /** Questions that may be under way at one time. */
  readonly atOnceMax: number;
  readonly rate: BucketLimit;
}

/** The requests of one asker. */
export interface Asking {
  readonly underWay: number;
  readonly bucket: Bucket;
}

export type AskingFault =
  | 'too-many-at-once' // as many as may be are still under way
  | 'too-fast'; // its rate is used up

export interface AskingVerdict {
  /** Null: the question may be handled. */
  readonly fault: AskingFault | null;
  /** As it stands now; a refusal costs nothing. */
  readonly asking: Asking;
}

export const startAsking = ({ rate }: AskingLimit, nowMs: number): Asking => ({
  underWay: 0,
  bucket: fullBucket(rate, nowMs),
});

/** Lets one more question in where there is room for it. */
export function admitQuestion(asking: Asking, limit: AskingLimit, nowMs: number): AskingVerdict {
  if (asking.underWay >= limit.atOnceMax) return { fault: 'too-many-at-once', asking };
  const { bucket, isAdmitted } = takeToken(asking.bucket, limit.rate, nowMs);
  if (!isAdmitted) return { fault: 'too-fast', asking: { ...asking, bucket } };
  return { fault: null, asking: { underWay: asking.underWay + 1, bucket } };
}

/** A question that was let in has its answer. */
export const endQuestion = (asking: Asking): Asking => ({ ...asking, underWay: Math.max(0, asking.underWay - 1) });
