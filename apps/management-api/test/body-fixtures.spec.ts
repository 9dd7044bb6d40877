import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ApiDocument } from '@berth/http';
import { DocumentSchemas } from '@berth/testing/contract';
import { expect, test } from '@jest/globals';

const FIXTURES = resolve(import.meta.dirname, '../../../libs/contracts/fixtures');
const DOCUMENT = resolve(import.meta.dirname, '../../../docs/wire/openapi.json');

const document = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as ApiDocument;
const open = new DocumentSchemas(document);
const closed = new DocumentSchemas(document, { isClosed: true });

const fixtures = readdirSync(FIXTURES).flatMap((version) =>
  readdirSync(join(FIXTURES, version, 'management')).map((file) => ({
    version,
    name: file.replace('.json', ''),
    body: JSON.parse(readFileSync(join(FIXTURES, version, 'management', file), 'utf8')) as object,
  })),
);

/** Every component that is by itself the body of an answer; problems are the same everywhere. */
const answersOf = ({ paths }: ApiDocument): readonly string[] => {
  const answers = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap(({ responses }) => Object.entries(responses).filter(([status]) => status.startsWith('2')));
  const names = [...JSON.stringify(answers).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
  return [...new Set(names)].toSorted();
};

test('there is a fixture of every answer of the management API', () => {
  expect(fixtures.filter(({ version }) => version === 'v1').map(({ name }) => name)).toEqual(answersOf(document));
});

test.each(fixtures)('$name of $version is as described, with every member that it may have', ({ name, body }) => {
  const failures = (schemas: DocumentSchemas, value: unknown): readonly string[] =>
    schemas.failures(['components', 'schemas', name], value);
  expect(failures(closed, body)).toEqual([]);
  const described = Object.keys(document.components.schemas[name]?.properties ?? {});
  expect(Object.keys(body)).toEqual(expect.arrayContaining(described));
  const required = document.components.schemas[name]?.required ?? [];
  const withoutMember = (member: string): object => ({ ...body, [member]: undefined });
  for (const member of required) expect([member, ...failures(open, withoutMember(member))]).not.toEqual([member]);
});
