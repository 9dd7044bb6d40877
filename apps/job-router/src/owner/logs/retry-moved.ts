import type { Said } from './endpoint-logs.js';

/** Between a look and the reading of what it named a log is carried at most once a moment. */
const LOOKS_MAX = 4;

/**
 * Looks, and tells what was seen with what has to be read for it. `moved`: what was to be read is somewhere else by now,
 * so it looks again.
 */
export async function retryMoved<View, Answer>(
  look: () => Promise<Said<View>>,
  tell: (view: View) => Promise<Answer | 'moved'>,
): Promise<Said<Answer>> {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const said = await look();
    if (said === 'silent' || said.kind === 'refused') return said;
    const answer = await tell(said.answer);
    if (answer !== 'moved') return { kind: 'answer', answer };
  }
  return 'silent';
}
