import { purgeableThrough, type PurgeableDecision } from '@berth/domain';
import type { LogRoom } from '@berth/messaging';

export interface UnreadLogsOptions {
  readonly rooms: { of(shard: number): LogRoom | undefined };
  /** The sequence through which the job history has read a shard's log; 0: that is not known. */
  readonly readThrough: (shard: number) => number;
}

/** Of which no room is known nothing goes unread. */
const UNKNOWN_ROOM = { agedThrough: 0, fill: 0 } as const;

/** How long logs wait for the job history. */
export class UnreadLogs {
  readonly #options: UnreadLogsOptions;

  constructor(options: UnreadLogsOptions) {
    this.#options = options;
  }

  purgeable(shard: number): PurgeableDecision {
    const { readThrough, rooms } = this.#options;
    return purgeableThrough({ ...(rooms.of(shard) ?? UNKNOWN_ROOM), readThrough: readThrough(shard) });
  }

  /** Whether something goes unread as soon as it is carried. */
  isEscaping(shard: number): boolean {
    const { readThrough, reason, through } = this.purgeable(shard);
    const last = this.#options.rooms.of(shard)?.lastSequence ?? 0;
    return reason !== 'read' && Math.min(through, last) > readThrough;
  }
}
