import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ACCOUNT_LIMITS_DEFAULT } from '../../account-limits/index.js';
import type { AccountId } from '../../ids.js';
import type { Worker } from '../../worker/index.js';
import { QuotaRoom } from './quota-room.js';

const ACCOUNT = 'a' as AccountId;

const withGpus = (gpuCount: number): Worker => ({ resources: { gpuCount } }) as unknown as Worker;

test('exactly those go that are needed for one more worker within the limits', () => {
  const gpus = fc.array(fc.nat(4), { maxLength: 8 });
  const given = fc.record({ paused: gpus, others: gpus, wanted: fc.nat(4), workers: fc.nat(10), gpus: fc.nat(16) });
  fc.assert(
    fc.property(given, ({ gpus: gpusMax, others, paused, wanted, workers: workersMax }) => {
      const limits = { ...ACCOUNT_LIMITS_DEFAULT, workers: workersMax, gpus: gpusMax };
      const room = new QuotaRoom(new Map([[ACCOUNT, limits]]));
      const candidates = paused.map(withGpus);
      for (const count of [...paused, ...others]) room.keep(ACCOUNT, count);
      const fits = (gone: readonly Worker[]): boolean => {
        const staying = candidates.filter((each) => !gone.includes(each)).map(({ resources }) => resources.gpuCount);
        const all = [...staying, ...others];
        const has = all.reduce((sum, count) => sum + count, 0);
        return all.length + 1 <= workersMax && (wanted === 0 || has + wanted <= gpusMax);
      };
      const victims = room.victimsFor(ACCOUNT, wanted, candidates);
      expect(victims !== null).toBe(fits(candidates) || fits([]));
      if (victims === null) return;
      expect(fits(victims)).toBe(true);
      for (const spared of victims) expect(fits(victims.filter((each) => each !== spared))).toBe(false);
    }),
  );
});
