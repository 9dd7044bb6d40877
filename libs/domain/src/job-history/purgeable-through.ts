/** How long a log keeps what the job history has not read. */
export const UNREAD_KEPT_MS = 24 * 3_600_000;
/** Share of its stream from which on a log no longer waits for the job history: the jobs of tenants go before it. */
export const UNREAD_FILL_MAX = 0.7;

/** One shard of the logs, as far as the job history is concerned. Sequences are of its stream; 0: none. */
export interface UnreadView {
  /** The history has read through this batch. */
  readonly readThrough: number;
  /** The newest batch that is `UNREAD_KEPT_MS` old. */
  readonly agedThrough: number;
  /** Bytes in the stream, as a share of those that it may hold. */
  readonly fill: number;
}

export interface PurgeableDecision extends Pick<UnreadView, 'readThrough'> {
  /** Carried things may go that lie at this sequence or before it. */
  readonly through: number;
  /** `read`: nothing is missed. Else the history misses what it has not read. */
  readonly reason: 'read' | 'aged' | 'full';
}

/** Where nobody follows the logs. */
export const NOTHING_UNREAD: PurgeableDecision = {
  through: Number.MAX_SAFE_INTEGER,
  readThrough: Number.MAX_SAFE_INTEGER,
  reason: 'read',
};

/** How far the logs of a shard may be purged of what is carried, read or not (ADR 0044). */
export function purgeableThrough({ agedThrough, fill, readThrough }: UnreadView): PurgeableDecision {
  if (fill >= UNREAD_FILL_MAX) return { through: Number.MAX_SAFE_INTEGER, readThrough, reason: 'full' };
  return agedThrough > readThrough
    ? { through: agedThrough, readThrough, reason: 'aged' }
    : { through: readThrough, readThrough, reason: 'read' };
}
