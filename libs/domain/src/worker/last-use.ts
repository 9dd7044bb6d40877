import type { Worker } from './worker.js';

/** The least recently used first. */
export const byLastUse = (a: Worker, b: Worker): number =>
  lastUsedAtMs(a) - lastUsedAtMs(b) || (a.id < b.id ? -1 : Number(a.id > b.id));

/** The end of its last job, as far as is known. */
export const lastUsedAtMs = ({ createdAtMs, observed }: Worker): number => observed?.idleSinceMs ?? createdAtMs;
