/** Runs `action` for 0 … count-1, at most `max` at a time; stops starting new ones at the first failure and throws it. */
export async function inParallel(count: number, max: number, action: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  let hasFailed = false;
  const runner = async (): Promise<void> => {
    while (next < count && !hasFailed) {
      const index = next;
      next += 1;
      try {
        await action(index);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(max, count) }, runner));
}
