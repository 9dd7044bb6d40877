import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { generateOpenApi } from './generate-openapi.js';

const FILE = new URL('../../../../docs/wire/openapi.json', import.meta.url);

interface Operation {
  readonly summary?: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

describe('the OpenAPI document', () => {
  test('is checked in as the code has it (npm run openapi writes it)', async () => {
    expect(JSON.parse(await readFile(FILE, 'utf8'))).toEqual(JSON.parse(await generateOpenApi()));
  });

  test('refers to nothing that it does not define', async () => {
    const text = await generateOpenApi();
    const { components } = JSON.parse(text) as { components: { schemas: Record<string, unknown> } };
    const names = [...text.matchAll(/"#\/components\/schemas\/([^"]*)"/g)].map(([, name]) => name);
    expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining([...new Set(names)]));
  });

  test('says of every operation what it is, what it answers and how it fails', async () => {
    const { paths } = JSON.parse(await generateOpenApi()) as { paths: Record<string, Record<string, Operation>> };
    for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
      expect(operation.summary).toBeTruthy();
      const statuses = Object.keys(operation.responses);
      expect(statuses.some((status) => status.startsWith('2'))).toBe(true);
      expect(statuses.some((status) => status.startsWith('4'))).toBe(true);
    }
  });
});
