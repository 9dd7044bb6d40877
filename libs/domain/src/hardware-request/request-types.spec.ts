import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import { requestTypes } from './request-types.js';
import { selectGpu } from './select-gpu.js';

const POOLED = SHIPPED_CATALOG.gpuTypes.filter(({ pool }) => pool !== null).map(({ id }) => id);

describe('a selection by types', () => {
  test('names the pools of the types in their order, and excludes the rest of them', () => {
    const { selection } = requestTypes(
      ['NVIDIA A40', 'NVIDIA GeForce RTX 4090', 'NVIDIA RTX A6000', 'NVIDIA A40'],
      SHIPPED_CATALOG,
    );
    expect(selection).toEqual({
      pools: ['AMPERE_48', 'ADA_24'],
      excludedTypes: [],
      preferredTypes: ['NVIDIA A40', 'NVIDIA GeForce RTX 4090', 'NVIDIA RTX A6000'],
    });
    expect(requestTypes(['NVIDIA L4'], SHIPPED_CATALOG).selection.excludedTypes).toEqual([
      'NVIDIA RTX A5000',
      'NVIDIA GeForce RTX 3090',
    ]);
  });

  test('says which types it cannot have', () => {
    expect(requestTypes(['NVIDIA A40', 'NVIDIA A30', 'no such card'], SHIPPED_CATALOG)).toMatchObject({
      unknownTypes: ['no such card'],
      poollessTypes: ['NVIDIA A30'],
    });
  });

  test('selects exactly the named types, in their order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom(...POOLED), { minLength: 1 }), (typeIds) => {
        const { selection } = requestTypes(typeIds, SHIPPED_CATALOG);
        expect(selectGpu(selection, SHIPPED_CATALOG)).toMatchObject({ unknownPools: [], strayExclusions: [] });
        expect(selectGpu(selection, SHIPPED_CATALOG).candidates.map(({ typeId, rank }) => [typeId, rank])).toEqual(
          typeIds.map((typeId, rank) => [typeId, rank]),
        );
      }),
    );
  });
});
