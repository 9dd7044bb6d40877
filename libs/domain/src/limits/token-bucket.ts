/** The tokens of a full bucket, and how fast it fills. */
export interface BucketLimit {
  readonly tokensMax: number;
  readonly tokensPerSecond: number;
}

/** The tokens that were left at an instant. */
export interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

export interface BucketVerdict {
  readonly isAdmitted: boolean;
  /** As it stands now; a refusal costs nothing. */
  readonly bucket: Bucket;
  /** Until there is a token again, at least 1; 0 where one was taken. */
  readonly retryAfterSeconds: number;
}

const SECOND_MS = 1_000;

/** A bucket that nobody has taken from. */
export const fullBucket = ({ tokensMax }: BucketLimit, nowMs: number): Bucket => ({ tokens: tokensMax, atMs: nowMs });

/** Takes one token where there is one. */
export function takeToken(bucket: Bucket, limit: BucketLimit, nowMs: number): BucketVerdict {
  const present = refilled(bucket, limit, nowMs);
  if (present.tokens >= 1) {
    return { isAdmitted: true, bucket: { ...present, tokens: present.tokens - 1 }, retryAfterSeconds: 0 };
  }
  const retryAfterSeconds = Math.max(1, Math.ceil((1 - present.tokens) / limit.tokensPerSecond));
  return { isAdmitted: false, bucket: present, retryAfterSeconds };
}

/** Gives back a token that should not have been taken. */
export const returnToken = (bucket: Bucket, { tokensMax }: BucketLimit): Bucket => ({
  ...bucket,
  tokens: Math.min(tokensMax, bucket.tokens + 1),
});

/** A clock that went back fills nothing. */
function refilled({ atMs, tokens }: Bucket, { tokensMax, tokensPerSecond }: BucketLimit, nowMs: number): Bucket {
  const elapsedMs = Math.max(0, nowMs - atMs);
  return { tokens: Math.min(tokensMax, tokens + (elapsedMs / SECOND_MS) * tokensPerSecond), atMs: nowMs };
}
