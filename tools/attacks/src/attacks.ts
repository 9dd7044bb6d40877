import type { Attack } from './attack.js';
import { announceWithKey, announceWithoutKey, costlyJson, randomKeys, unfinishedHeaders } from './callers.js';
import { stolenHost } from './stolen-host.js';
import { hostileWorkers } from './workers.js';

/** All that is let loose together. */
export const ATTACKS = {
  announceWithoutKey,
  announceWithKey,
  unfinishedHeaders,
  costlyJson,
  randomKeys,
  hostileWorkers,
  stolenHost,
} as const satisfies Readonly<Record<string, Attack>>;

export type AttackName = keyof typeof ATTACKS;
