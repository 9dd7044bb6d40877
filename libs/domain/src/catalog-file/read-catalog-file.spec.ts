import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SHIPPED_CATALOG, SHIPPED_TABLES, type HardwareCatalog } from '../hardware-catalog/index.js';
import { readCatalogFile } from './read-catalog-file.js';

const T4 = { name: 'T4', memoryGb: 16, pool: 'TURING_16' };

function catalogOf(file: unknown): HardwareCatalog {
  const reading = readCatalogFile(file, SHIPPED_TABLES);
  if (reading.kind === 'refused') throw new Error(reading.problems.join('\n'));
  return reading.catalog;
}

function problemsOf(file: unknown): readonly string[] {
  const reading = readCatalogFile(file, SHIPPED_TABLES);
  return reading.kind === 'refused' ? reading.problems : [];
}

const tablesOf = ({ cpuFlavors, dataCenters, gpuPools, gpuTypes }: HardwareCatalog) => ({
  ...{ cpuFlavors, dataCenters, gpuPools, gpuTypes },
});

describe("an operator's catalog", () => {
  test('that says nothing is the shipped one', () => {
    expect(tablesOf(catalogOf({}))).toEqual(tablesOf(SHIPPED_CATALOG));
    expect(tablesOf(catalogOf({ gpuTypes: {}, gpuPools: {}, cpuFlavors: {}, dataCenters: {} }))).toEqual(
      tablesOf(SHIPPED_CATALOG),
    );
  });

  test('adds a card in a pool of its own, behind the shipped ones', () => {
    const catalog = catalogOf({
      gpuTypes: { 'Tesla T4': T4 },
      gpuPools: { TURING_16: { serverlessUsdPerSecond: 0.00011 } },
    });
    expect(catalog.gpuTypes.slice(0, -1)).toEqual(SHIPPED_CATALOG.gpuTypes);
    expect(catalog.gpuType('Tesla T4')).toEqual({
      ...{ id: 'Tesla T4', ...T4, manufacturer: 'NVIDIA', serverlessUsdPerSecond: 0.00011 },
    });
    expect(catalog.gpuTypesOfPool('TURING_16').map(({ id }) => id)).toEqual(['Tesla T4']);
    expect(catalog.gpuPools).toEqual([...SHIPPED_CATALOG.gpuPools, 'TURING_16']);
  });

  test('changes what it says of an entry and nothing else of it', () => {
    const catalog = catalogOf({
      gpuTypes: { 'NVIDIA A30': { pool: 'AMPERE_24' } },
      gpuPools: { ADA_24: { serverlessUsdPerSecond: 0.0001 }, AMPERE_24: null },
      cpuFlavors: { cpu3c: { serverlessUsdPerHour: null } },
    });
    expect(catalog.gpuType('NVIDIA A30')).toMatchObject({ name: 'A30', memoryGb: 24, pool: 'AMPERE_24' });
    expect(catalog.gpuType('NVIDIA GeForce RTX 4090')?.serverlessUsdPerSecond).toBe(0.0001);
    expect(catalog.gpuType('NVIDIA L4')?.serverlessUsdPerSecond).toBeNull();
    expect(catalog.cpuFlavor('cpu3c')).toMatchObject({
      ramGbPerVcpu: 2,
      podUsdPerHour: 0.03,
      serverlessUsdPerHour: null,
    });
  });

  test('takes entries out, one by one or all that it does not name', () => {
    const catalog = catalogOf({
      gpuTypes: { 'NVIDIA B200': null },
      cpuFlavors: { '*': null, cpu5m: {}, epyc: { ramGbPerVcpu: 4.5 } },
      dataCenters: { '*': null },
    });
    expect(catalog.gpuPools).not.toContain('BLACKWELL_180');
    expect(catalog.cpuFlavors).toEqual([
      SHIPPED_CATALOG.cpuFlavor('cpu5m'),
      {
        ...{ id: 'epyc', name: 'epyc', group: 'Own', ramGbPerVcpu: 4.5, vcpuMin: 2, vcpuMax: 32 },
        ...{ podUsdPerHour: null, serverlessUsdPerHour: null },
      },
    ]);
    expect(catalog.dataCenters).toEqual([]);
    expect(catalog.dataCenter('EU-RO-1')).toMatchObject({ region: 'UNKNOWN', countryCode: null });
  });

  test('knows a card by each of its names', () => {
    const catalog = catalogOf({ gpuTypes: { T4: { ...T4, reportedAs: ['Tesla T4', 'NVIDIA T4'] } } });
    for (const name of ['T4', 'Tesla T4', 'NVIDIA T4']) expect(catalog.gpuTypeOfCard(name)?.id).toBe('T4');
    expect(catalog.gpuType('T4')?.manufacturer).toBe('NVIDIA');
    expect(catalog.gpuType('Tesla T4')).toBeUndefined();
    expect(catalog.gpuTypeIdOfCard('Tesla T40')).toBe('Tesla T40');
  });
});

describe('a catalog is refused', () => {
  test.each<[unknown, RegExp]>([
    [[], /^\$ must be an object$/],
    [{ gpus: {} }, /^\$\.gpus is unknown.*gpuTypes/],
    [{ gpuTypes: [] }, /^\$\.gpuTypes must be an object/],
    [{ gpuTypes: { 'Tesla T4': { name: 'T4' } } }, /^\$\.gpuTypes\["Tesla T4"\]\.memoryGb is missing/],
    [{ gpuTypes: { 'Tesla T4': { ...T4, memoryGb: '16' } } }, /\["Tesla T4"\]\.memoryGb must be a number of GB/],
    [{ gpuTypes: { 'Tesla T4': { ...T4, pol: 'X' } } }, /\["Tesla T4"\]\.pol is unknown \(did you mean pool\?\)/],
    [{ gpuTypes: { 'Tesla T4': { ...T4, pool: 'A,B' } } }, /\.pool must be made of letters/],
    [{ gpuTypes: { '-T4': T4 } }, /^\$\.gpuTypes\["-T4"\]: the id must be a text that does not begin with a dash/],
    [{ gpuTypes: { ' T4': T4 } }, /: the id must be a text of 1 to 128 characters/],
    [{ gpuTypes: { 'Tesla T4': null } }, /is null, but there is no such entry/],
    [{ gpuTypes: { 'Tesla T4': 16 } }, /must be an object, or null/],
    [{ gpuTypes: { '*': {} } }, /\["\*"\] must be null/],
    [{ gpuTypes: { T4: { ...T4, reportedAs: ['NVIDIA L4'] } } }, /^\$\.gpuTypes\["T4"\]\.reportedAs names "NVIDIA L4"/],
    [{ gpuTypes: { T4: { ...T4, reportedAs: 'Tesla T4' } } }, /reportedAs must be a list$/],
    [
      { gpuTypes: { T4: { ...T4, reportedAs: Array.from({ length: 17 }, (_, at) => `T4 ${at}`) } } },
      /at most 16 items/,
    ],
    [{ gpuTypes: { T4: { ...T4, reportedAs: ['a', ' b'] } } }, /reportedAs\[1\] must be a text of 1 to 128/],
    [{ gpuPools: { TURING_16: { serverlessUsdPerSecond: 1 } } }, /no GPU type is in this pool/],
    [{ gpuPools: { ADA_24: { serverlessUsdPerSecond: -1 } } }, /must be a number of USD, above 0/],
    [{ cpuFlavors: { 'a-b': { ramGbPerVcpu: 2 } } }, /the id must be made of letters, digits, '\.' and '_'/],
    [{ cpuFlavors: { epyc: { ramGbPerVcpu: 2, vcpuMin: 3 } } }, /vcpuMin must be a power of two from 2/],
    [{ cpuFlavors: { epyc: { ramGbPerVcpu: 2, vcpuMin: 64 } } }, /vcpuMin is above vcpuMax, 32/],
    [{ dataCenters: { X: { region: 'EUROPA' } } }, /region must be one of NORTH_AMERICA/],
    [{ dataCenters: { X: { countryCode: 'de' } } }, /countryCode must be two capital letters/],
    [{ dataCenters: { X: { hasGlobalNetwork: 1 } } }, /must be true or false/],
    [{ dataCenters: Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`X${at}`, {}])) }, /more than 500/],
  ])('%j', (file, problem) => {
    expect(problemsOf(file)).toEqual([expect.stringMatching(problem)]);
  });

  test('with all that is wrong', () => {
    expect(problemsOf({ gpus: {}, gpuTypes: { a: {} }, cpuFlavors: { b: {} } })).toHaveLength(3);
  });

  test('or read, whatever it is', () => {
    const entry = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom('name', 'memoryGb', 'pool'), fc.jsonValue()));
    const table = fc.dictionary(fc.oneof(fc.constantFrom('*', 'NVIDIA L4', 'cpu3c', '__proto__'), fc.string()), entry);
    const file = fc.dictionary(fc.constantFrom('gpuTypes', 'gpuPools', 'cpuFlavors', 'dataCenters'), table);
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), file), (value) => {
        const reading = readCatalogFile(value, SHIPPED_TABLES);
        if (reading.kind === 'refused') expect(reading.problems).not.toHaveLength(0);
        else expect(reading.catalog.gpuTypes.every(({ memoryGb }) => memoryGb > 0)).toBe(true);
      }),
    );
  });
});
