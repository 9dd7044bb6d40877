/**
 * The results of `action` for each item, in order, with at most `max` under way at one time. After the first failure none
 * is started any more, and it is thrown.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  max: number,
  action: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results = new Array<Result>(items.length);
  const rest = entriesOf(items);
  const lane = async (): Promise<void> => {
    for (const [order, item] of rest) results[order] = await action(item);
  };
  await Promise.all(Array.from({ length: Math.min(max, items.length) }, lane));
  return results;
}

/** A generator and not the list's own iterator: the lane that fails closes it for the others as well. */
function* entriesOf<Item>(items: readonly Item[]): Generator<[number, Item]> {
  yield* items.entries();
}
