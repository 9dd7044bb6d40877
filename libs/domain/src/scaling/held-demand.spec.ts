import { expect, test } from '@jest/globals';
import type { Affinity } from '../load-balancer/index.js';
import { NO_DEMAND } from './demand.js';
import { STRICT_WORKERS_MAX, demandOfHeld } from './held-demand.js';

const only = (workerId: string): Affinity => ({ kind: 'only', workerId });
const held = (...affinities: Affinity[]) => affinities.map((affinity, index) => ({ affinity, sinceUnixMs: index + 1 }));

test('nobody who waits is no demand', () => {
  expect(demandOfHeld([])).toEqual(NO_DEMAND);
});

test('whoever waits counts, and is told with its worker only where no other will do', () => {
  const line = held({ kind: 'any' }, only('w2'), { kind: 'prefer', workerId: 'w1' }, only('w1'), only('w2'));
  expect(demandOfHeld(line)).toEqual({
    ...{ ...NO_DEMAND, queuedNormal: 5, oldestQueuedAtMs: 1 },
    strict: [
      { workerId: 'w2', queued: 2 },
      { workerId: 'w1', queued: 1 },
    ],
  });
});

test('of more workers than may be named those are that are waited for longest, with all that wait for them', () => {
  const names = Array.from({ length: STRICT_WORKERS_MAX + 1 }, (_, index) => only(`w${index}`));
  const { queuedNormal, strict = [] } = demandOfHeld(held(...names, only('w0')));
  expect(queuedNormal).toBe(STRICT_WORKERS_MAX + 2);
  expect(strict).toHaveLength(STRICT_WORKERS_MAX);
  expect(strict[0]).toEqual({ workerId: 'w0', queued: 2 });
});
