import { isOlder, newestFirst, type PageKey } from './page-key.js';

/** The part of a list that one source has, from the place that was asked for on. */
export interface Slice<Entry extends PageKey> {
  /** Newest first. */
  readonly entries: readonly Entry[];
  /** The source may have more below this place; null: it has told everything. */
  readonly through: PageKey | null;
}

export interface MergedPage<Entry extends PageKey> {
  readonly entries: readonly Entry[];
  /** Everything down to this place is in the page or above it; null at the end of the list. */
  readonly next: PageKey | null;
}

/**
 * One page out of two sources that may know the same job: the entry of `first` wins. A page goes no deeper than the source
 * that has told least, so it may be shorter than `limit` although the list goes on.
 */
export function mergeSlices<Entry extends PageKey>(
  first: Slice<Entry>,
  second: Slice<Entry>,
  limit: number,
): MergedPage<Entry> {
  const byId = new Map([...second.entries, ...first.entries].map((entry) => [entry.jobId, entry]));
  const floor = newerOf(first.through, second.through);
  const known = [...byId.values()].filter((entry) => floor === null || !isOlder(entry, floor)).toSorted(newestFirst);
  const entries = known.slice(0, limit);
  if (known.length > limit) return { entries, next: entries.at(-1) ?? null };
  return { entries, next: floor };
}

const newerOf = (a: PageKey | null, b: PageKey | null): PageKey | null => {
  if (a === null || b === null) return a ?? b;
  return isOlder(a, b) ? b : a;
};
