import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import type { ApiDocument } from '@berth/http';
import { generateOpenApi } from './generate-openapi.js';

const FILE = new URL('../../../../docs/wire/openapi.json', import.meta.url);

test('docs/wire/openapi.json is checked in as the code has it', async () => {
  const [kept, made] = [await readFile(FILE, 'utf8'), await generateOpenApi()];
  if (kept === made) return;
  const differing = differences(JSON.parse(kept) as ApiDocument, JSON.parse(made) as ApiDocument);
  throw new Error(
    `docs/wire/openapi.json is not as the code has it. Run \`npm run openapi\` and look at what has changed. It differs in:\n${differing.join('\n')}`,
  );
});

test('it refers to nothing that it does not define', async () => {
  const text = await generateOpenApi();
  const document = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const references = [...text.matchAll(/"#\/([^"]*)"/g)].map(([, way = '']) => way);
  expect(references.filter((way) => at(document, way.split('/')) === undefined)).toEqual([]);
});

const at = (value: unknown, way: readonly string[]): unknown =>
  way.reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>> | undefined)?.[name], value);

/** The paths, components and other parts that are not the same. */
function differences(kept: ApiDocument, made: ApiDocument): readonly string[] {
  const [before, after] = [kept, made].map(({ components, paths, ...rest }) => ({
    ...rest,
    ...paths,
    ...components,
    ...components.schemas,
  }));
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const textOf = (parts: object | undefined, name: string): string =>
    JSON.stringify((parts as Readonly<Record<string, unknown>> | undefined)?.[name]);
  return [...names].filter((name) => textOf(before, name) !== textOf(after, name));
}
