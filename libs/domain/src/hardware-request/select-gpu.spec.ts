import { describe, expect, test } from '@jest/globals';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import { selectGpu } from './select-gpu.js';

describe('selectGpu', () => {
  test('lists the types of the pools in the order of the pools', () => {
    const { candidates } = selectGpu({ pools: ['ADA_24', 'AMPERE_48'], excludedTypes: [] }, SHIPPED_CATALOG);
    expect(candidates).toEqual([
      { typeId: 'NVIDIA GeForce RTX 4090', pool: 'ADA_24', rank: 0 },
      { typeId: 'NVIDIA A40', pool: 'AMPERE_48', rank: 1 },
      { typeId: 'NVIDIA RTX A6000', pool: 'AMPERE_48', rank: 1 },
    ]);
  });

  test('leaves excluded types out', () => {
    const { candidates, strayExclusions } = selectGpu(
      { pools: ['AMPERE_48'], excludedTypes: ['NVIDIA A40'] },
      SHIPPED_CATALOG,
    );
    expect(candidates.map(({ typeId }) => typeId)).toEqual(['NVIDIA RTX A6000']);
    expect(strayExclusions).toEqual([]);
  });

  test('names unknown pools, and exclusions that are in none of the pools', () => {
    const selection = selectGpu(
      { pools: ['ADA_25', 'ADA_24'], excludedTypes: ['NVIDIA A40', 'NVIDIA A30', 'A4O'] },
      SHIPPED_CATALOG,
    );
    expect(selection.unknownPools).toEqual(['ADA_25']);
    expect(selection.strayExclusions).toEqual(['NVIDIA A40', 'NVIDIA A30', 'A4O']);
  });

  test('can leave nothing', () => {
    expect(
      selectGpu({ pools: ['ADA_24'], excludedTypes: ['NVIDIA GeForce RTX 4090'] }, SHIPPED_CATALOG).candidates,
    ).toEqual([]);
  });

  test('keeps an order of types where one was given', () => {
    const { candidates } = selectGpu(
      {
        pools: ['ADA_24', 'AMPERE_48'],
        excludedTypes: [],
        preferredTypes: ['NVIDIA RTX A6000', 'NVIDIA GeForce RTX 4090'],
      },
      SHIPPED_CATALOG,
    );
    expect(candidates.map(({ typeId, rank }) => [typeId, rank])).toEqual([
      ['NVIDIA RTX A6000', 0],
      ['NVIDIA GeForce RTX 4090', 1],
      ['NVIDIA A40', 3],
    ]);
  });
});
