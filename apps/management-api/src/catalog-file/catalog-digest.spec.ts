import { HardwareCatalog, SHIPPED_CATALOG, SHIPPED_TABLES, readCatalogFile } from '@berth/domain';
import { expect, test } from '@jest/globals';
import { catalogDigest } from './catalog-digest.js';

function digestOf(file: unknown): string {
  const reading = readCatalogFile(file, SHIPPED_TABLES);
  if (reading.kind === 'refused') throw new Error(reading.problems.join('\n'));
  return catalogDigest(reading.catalog);
}

const SHIPPED = catalogDigest(SHIPPED_CATALOG);

test('catalogs that say the same have one digest, in whatever order their files say it', () => {
  expect(SHIPPED).toMatch(/^[0-9a-f]{64}$/);
  expect(catalogDigest(new HardwareCatalog(SHIPPED_TABLES))).toBe(SHIPPED);
  expect(digestOf({})).toBe(SHIPPED);
  const dataCenter = { name: 'Basement', region: 'EUROPE', countryCode: 'DE' };
  const { countryCode, name, region } = dataCenter;
  const reordered = { countryCode, region, name };
  expect(digestOf({ dataCenters: { A: dataCenter } })).toBe(digestOf({ dataCenters: { A: reordered } }));
});

test.each<[string, object]>([
  ['a price', { gpuPools: { ADA_24: { serverlessUsdPerSecond: 0.1234 } } }],
  ['a card', { gpuTypes: { 'Tesla T4': { memoryGb: 16, pool: 'TURING_16' } } }],
  ['what a card is called', { gpuTypes: { 'NVIDIA L4': { reportedAs: ['L4'] } } }],
  ['a flavor', { cpuFlavors: { cpu3m: null } }],
  ['a data center', { dataCenters: { A: { name: 'Basement' } } }],
])('another digest has what differs in %s', (_, file) => {
  expect(digestOf(file)).not.toBe(SHIPPED);
});
