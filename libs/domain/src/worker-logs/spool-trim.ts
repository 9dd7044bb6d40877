/** A piece of a worker's spool, as what is removed. */
export interface SpoolSegment {
  readonly workerId: string;
  /** Whose it counts for. */
  readonly accountId: string;
  readonly firstSequence: number;
  readonly bytes: number;
  /** When its last line was written, Unix ms. */
  readonly lastAtMs: number;
  /** It is being written to, and stays. */
  readonly isOpen: boolean;
}

export interface SpoolBounds {
  readonly workerBytesMax: number;
  readonly accountBytesMax: number;
  readonly ageMaxMs: number;
}

/**
 * The segments that must go, oldest first: those that are too old, then of each worker and of each account as many as it
 * takes to be within their bytes. What is written to stays, so a worker is above its bound by one segment at most.
 */
export function spoolsToTrim(
  segments: readonly SpoolSegment[],
  bounds: SpoolBounds,
  nowMs: number,
): readonly SpoolSegment[] {
  const oldestFirst = segments.toSorted((a, b) => a.lastAtMs - b.lastAtMs || a.firstSequence - b.firstSequence);
  const going = new Set(oldestFirst.filter(({ isOpen, lastAtMs }) => !isOpen && lastAtMs < nowMs - bounds.ageMaxMs));
  trim(oldestFirst, going, { keyOf: ({ workerId }) => workerId, bytesMax: bounds.workerBytesMax });
  trim(oldestFirst, going, { keyOf: ({ accountId }) => accountId, bytesMax: bounds.accountBytesMax });
  return oldestFirst.filter((segment) => going.has(segment));
}

interface TrimBy {
  readonly keyOf: (segment: SpoolSegment) => string;
  readonly bytesMax: number;
}

function trim(oldestFirst: readonly SpoolSegment[], going: Set<SpoolSegment>, { bytesMax, keyOf }: TrimBy): void {
  const held = new Map<string, number>();
  for (const segment of oldestFirst) {
    if (!going.has(segment)) held.set(keyOf(segment), (held.get(keyOf(segment)) ?? 0) + segment.bytes);
  }
  for (const segment of oldestFirst) {
    const bytes = held.get(keyOf(segment)) ?? 0;
    if (bytes <= bytesMax || segment.isOpen || going.has(segment)) continue;
    going.add(segment);
    held.set(keyOf(segment), bytes - segment.bytes);
  }
}
