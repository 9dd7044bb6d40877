/**
 * What is without an owner must be seen so twice, this far apart, before its owner is looked for: inputs are written
 * before their record, tickets after it, and the view runs a moment behind.
 */
const ORPHAN_GRACE_MS = 45_000;

export interface Orphans<T> {
  /** Seen without an owner for the whole grace. */
  readonly ripe: readonly T[];
  /** For the next look: since when each was seen without an owner, by name. */
  readonly sinceMs: ReadonlyMap<string, number>;
}

/** @param nowMs monotonic */
export async function findOrphans<T>(
  found: AsyncIterable<T>,
  before: ReadonlyMap<string, number>,
  { nameOf, hasOwner, nowMs }: { nameOf: (item: T) => string; hasOwner: (item: T) => boolean; nowMs: number },
): Promise<Orphans<T>> {
  const ripe: T[] = [];
  const sinceMs = new Map<string, number>();
  for await (const item of found) {
    if (hasOwner(item)) continue;
    const name = nameOf(item);
    const since = before.get(name) ?? nowMs;
    sinceMs.set(name, since);
    if (nowMs - since >= ORPHAN_GRACE_MS) ripe.push(item);
  }
  return { ripe, sinceMs };
}
