import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { SHIPPED_CATALOG } from '@berth/domain';
import { runMain } from '@berth/telemetry';
import { loadCatalog } from './load-catalog.js';

const DOCUMENT = resolve(import.meta.dirname, '../../../../docs/hardware-catalog.md');
const folder = mkdtempSync(join(tmpdir(), 'berth-catalog-'));

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function fileOf(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('the catalog of an installation', () => {
  test('is the shipped one where no file is named', async () => {
    expect(await loadCatalog(null)).toBe(SHIPPED_CATALOG);
  });

  test('is the one that the documentation shows', async () => {
    const [, example = ''] = /```json\n(.*?)```/s.exec(readFileSync(DOCUMENT, 'utf8')) ?? [];
    const catalog = await loadCatalog(fileOf('example.json', example));
    const typesOf = (pool: string): readonly string[] => catalog.gpuTypesOfPool(pool).map(({ id }) => id);
    expect(typesOf('TURING_16')).toEqual(['Tesla T4']);
    expect(typesOf('AMPERE_40')).toEqual(['NVIDIA A100-SXM4-40GB']);
    expect(typesOf('AMPERE_24')).toEqual([
      ...SHIPPED_CATALOG.gpuTypesOfPool('AMPERE_24').map(({ id }) => id),
      ...['NVIDIA A30', 'NVIDIA A10'],
    ]);
    expect(catalog.dataCenters.map(({ id }) => id)).toEqual(['LOCAL-1']);
  });

  test.each([
    ['text.json', '{', 'it is no JSON'],
    ['typo.json', '{"gpuTypes":{"Tesla T4":{"memory":16}}}', '$.gpuTypes["Tesla T4"].memory is unknown'],
    ['large.json', ' '.repeat(262_145), 'it has more than 262144 bytes'],
    ['none.json', null, 'it cannot be read: ENOENT'],
  ])('that cannot be used stops the start: %s', async (name, content, why) => {
    const path = content === null ? join(folder, name) : fileOf(name, content);
    const [printed, codes]: [string[], number[]] = [[], []];
    const host = {
      on: () => undefined,
      exit: (code: number) => codes.push(code),
      stderr: { write: (text: string) => printed.push(text) },
    };
    const start = async (): Promise<void> => {
      await loadCatalog(path);
    };
    await runMain('controllers', start, { host });
    expect(codes).toEqual([1]);
    expect(printed.join('')).toContain(`controllers: BERTH_CATALOG_FILE, ${path}, cannot be used:\n  ${why}`);
  });
});
