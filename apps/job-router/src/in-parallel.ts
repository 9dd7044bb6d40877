/** The results of `action` for each item, in order, with at most `limit` under way at one time. The first error ends it. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  action: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results = new Array<Result>(items.length);
  const rest = items.entries();
  const lane = async (): Promise<void> => {
    for (const [order, item] of rest) results[order] = await action(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results;
}
