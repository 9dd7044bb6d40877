import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import { compareCudaVersions, parseCudaVersion } from './cuda-version.js';
import { selectGpu } from './select-gpu.js';

const version = fc.record({ major: fc.nat(99), minor: fc.nat(99) });

test('comparing CUDA versions is a total order that agrees with the numbers', () => {
  fc.assert(
    fc.property(version, version, (a, b) => {
      const order = Math.sign(compareCudaVersions(a, b));
      expect(order).toBe(Math.sign(a.major * 100 + a.minor - (b.major * 100 + b.minor)));
      expect(Math.sign(compareCudaVersions(b, a))).toBe(order === 0 ? 0 : -order);
    }),
  );
});

test('what a version is written as parses back to it', () => {
  fc.assert(
    fc.property(version, (v) => {
      expect(parseCudaVersion(`${v.major}.${v.minor}`)).toEqual(v);
    }),
  );
});

test('every selected type is in a chosen pool, not excluded, and listed once, best first', () => {
  const pools = fc.uniqueArray(fc.constantFrom(...SHIPPED_CATALOG.gpuPools, 'NO_SUCH_POOL'), { minLength: 1 });
  const types = fc.subarray(SHIPPED_CATALOG.gpuTypes.map(({ id }) => id));
  fc.assert(
    fc.property(pools, types, types, (chosen, excludedTypes, preferredTypes) => {
      const { candidates } = selectGpu({ pools: chosen, excludedTypes, preferredTypes }, SHIPPED_CATALOG);
      const ids = candidates.map(({ typeId }) => typeId);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { typeId, pool } of candidates) {
        expect(SHIPPED_CATALOG.gpuType(typeId)?.pool).toBe(pool);
        expect(chosen).toContain(pool);
        expect(excludedTypes).not.toContain(typeId);
      }
      const ranks = candidates.map(({ rank }) => rank);
      expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
      const expected = SHIPPED_CATALOG.gpuTypes.filter(
        ({ id, pool }) => pool !== null && chosen.includes(pool) && !excludedTypes.includes(id),
      );
      expect(ids.toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
    }),
  );
});
