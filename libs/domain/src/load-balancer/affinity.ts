/** Which worker a request wants. `prefer` falls back to any other, `only` never does. */
export type Affinity =
  | { readonly kind: 'any' }
  | { readonly kind: 'prefer'; readonly workerId: string }
  | { readonly kind: 'only'; readonly workerId: string };

/** The header by which callers name a worker, and by which each answer names its own. Lower case. */
export const WORKER_HEADER = 'x-runpod-worker-id';

const STRICT = /^strict(?:-resume)?[ \t]+(\S+)$/i;
const ID = /^\S+$/;
const ANY: Affinity = { kind: 'any' };

/**
 * `ID`, `strict ID` or `strict-resume ID` (wire contract 4). The latter two are the same here: whoever is held is told of
 * as demand, and a paused worker is resumed for that. What is none of the three asks for nothing, as soft affinity never
 * fails a request.
 */
export function readAffinity(header: string | undefined): Affinity {
  const value = (header ?? '').trim();
  const strict = STRICT.exec(value)?.[1];
  if (strict !== undefined) return { kind: 'only', workerId: strict };
  return ID.test(value) ? { kind: 'prefer', workerId: value } : ANY;
}
