export const USAGE_BUCKETS = ['hour', 'day'] as const;

/** The stretches of time by which usage is added up, in UTC. */
export type UsageBucket = (typeof USAGE_BUCKETS)[number];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface UsageSpan {
  readonly bucketMs: number;
  /** What is told unless the caller says from when on. */
  readonly defaultMs: number;
  /** Longest range that one request may name. */
  readonly maxMs: number;
  /** `maxMs` in the words of a refusal. */
  readonly max: string;
}

export const USAGE_SPANS: Readonly<Record<UsageBucket, UsageSpan>> = {
  hour: { bucketMs: HOUR_MS, defaultMs: DAY_MS, maxMs: 31 * DAY_MS, max: '31 days' },
  day: { bucketMs: DAY_MS, defaultMs: 30 * DAY_MS, maxMs: 366 * DAY_MS, max: '366 days' },
};

/** What a caller has said of the range, and what may be left out of it. */
export interface AskedRange {
  readonly bucket: UsageBucket;
  readonly startMs?: number;
  readonly endMs?: number;
}

/** Whole buckets from `startMs` up to, and without, `endMs`. */
export interface UsageRange {
  readonly startMs: number;
  readonly endMs: number;
}

export type UsageRangeVerdict =
  ({ readonly kind: 'range' } & UsageRange) | { readonly kind: 'refused'; readonly errors: readonly string[] };

/**
 * The range that is told: every bucket that the asked one touches, so its start is rounded down and its end up. Without
 * `endMs` it ends with the present bucket; without `startMs` it is as long as `USAGE_SPANS` has it. How long it may be is
 * said of what was asked, before it is rounded.
 */
export function usageRange({ bucket, endMs: asked, startMs }: AskedRange, nowMs: number): UsageRangeVerdict {
  const { bucketMs, defaultMs, max, maxMs } = USAGE_SPANS[bucket];
  const endMs = asked ?? nowMs;
  const roundedEndMs = Math.ceil(endMs / bucketMs) * bucketMs;
  if (startMs === undefined) return { kind: 'range', startMs: roundedEndMs - defaultMs, endMs: roundedEndMs };
  const named = asked === undefined ? 'now, where the range ends without `end`' : '`end`';
  if (startMs >= endMs) return refused(`must be before ${named}`);
  if (endMs - startMs > maxMs) return refused(`must be at most ${max} before ${named}, with bucket ${bucket}`);
  return { kind: 'range', startMs: Math.floor(startMs / bucketMs) * bucketMs, endMs: roundedEndMs };
}

const refused = (reason: string): UsageRangeVerdict => ({ kind: 'refused', errors: [`$.start: ${reason}`] });
