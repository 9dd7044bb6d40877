import { readFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { SCOPES } from '@berth/domain';
import type { ApiDocument, ApiResponse, NamedExample, Operation } from '@berth/http';
import { DocumentSchemas } from '@berth/testing/contract';
import { beforeAll, expect, test } from '@jest/globals';
import { generateJobOpenApi } from '../src/openapi-document/generate-openapi.js';

const FILE = new URL('../../../docs/wire/job-openapi.json', import.meta.url);
const JSON_TYPE = 'application/json';

let text: string;
let document: ApiDocument;
let schemas: DocumentSchemas;

beforeAll(async () => {
  text = await generateJobOpenApi();
  document = JSON.parse(text) as ApiDocument;
  schemas = new DocumentSchemas(document);
});

interface Placed {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

const operations = (): readonly Placed[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

/** Everything that is missing anywhere, so that one run tells the whole story. */
const missing = (find: (placed: Placed) => readonly (string | false)[]): readonly string[] =>
  operations().flatMap((placed) =>
    find(placed)
      .filter((finding) => finding !== false)
      .map((finding) => `${placed.method} ${placed.path}: ${finding}`),
  );

test('docs/wire/job-openapi.json is checked in as the code has it', async () => {
  if ((await readFile(FILE, 'utf8')) !== text) throw new Error('It is not: run `npm run openapi`.');
});

test('it is OpenAPI 3.1, by the schema of OpenAPI 3.1, and refers to nothing that it does not define', async () => {
  expect(document.openapi).toBe('3.1.0');
  expect(await new Validator().validate({ ...structuredClone(document) })).toEqual({ valid: true });
  const at = (way: readonly string[]): unknown =>
    way.reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>> | undefined)?.[name], document);
  const references = [...text.matchAll(/"#\/([^"]*)"/g)].map(([, way = '']) => way);
  expect(references.filter((way) => at(way.split('/')) === undefined)).toEqual([]);
});

test('every operation says what it is, under a described tag, and the scope that it needs', () => {
  const tags = document.tags?.map(({ name }) => name) ?? [];
  const findings = missing(({ operation: { security, summary, tags: own = [] } }) => [
    !summary && 'no summary',
    (own.length !== 1 || !tags.includes(own[0] ?? '')) && 'not one tag that is described',
    !SCOPES.some((scope) => scope === security?.[0]?.['apiKey']?.[0]) && 'no scope',
  ]);
  expect(findings).toEqual([]);
  const ids = operations().map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('every parameter has a description, a type and an example, and an integer has bounds', () => {
  const findings = missing(({ operation, path }) => [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(
      ([, name]) => operation.parameters?.every((each) => each.name !== name) === true && `no parameter ${name}`,
    ),
    ...(operation.parameters ?? []).flatMap(({ description, name, schema = {} }) => [
      !description && `no description of ${name}`,
      schema.type === undefined && `no type of ${name}`,
      schema.type === 'integer' && schema.maximum === undefined && `no bounds of ${name}`,
    ]),
  ]);
  expect(findings).toEqual([]);
});

test('every body has examples that its schema takes', () => {
  const findings = missing(({ method, operation: { requestBody }, path }) => {
    if (requestBody === undefined) return [];
    const examples = (requestBody.content[JSON_TYPE]?.examples ?? {}) as Readonly<Record<string, NamedExample>>;
    const place = ['paths', path, method, 'requestBody', 'content', JSON_TYPE, 'schema'];
    return [
      examples['full'] === undefined && 'no full example',
      ...Object.values(examples).flatMap(({ value }) => schemas.failures(place, value)),
    ];
  });
  expect(findings).toEqual([]);
});

test('a webhook is described with a message that its schema takes', () => {
  const { requestBody, responses } = document.webhooks?.['job-ended']?.['post'] ?? { responses: {} };
  const { full } = (requestBody?.content[JSON_TYPE]?.examples ?? {}) as Readonly<Record<string, NamedExample>>;
  const place = ['webhooks', 'job-ended', 'post', 'requestBody', 'content', JSON_TYPE, 'schema'];
  expect(schemas.failures(place, full?.value)).toEqual([]);
  expect(schemas.failures(place, { ...(full?.value as object), webhook: undefined })).not.toEqual([]);
  expect(Object.keys(responses)).toContain('2XX');
});

test('an answer in events has an example, and the headers that keep it from being held back', () => {
  const findings = missing(({ operation: { responses } }) => {
    const answer = responses['200'] as ApiResponse | undefined;
    const events = answer?.content?.['text/event-stream'];
    if (events === undefined) return [];
    const { full } = (events.examples ?? {}) as Readonly<Record<string, NamedExample>>;
    return [
      !/^(?:(?:event|id|data): .*\n)+\n/.test(String(full?.value)) && 'no example of an event',
      ...['Cache-Control', 'X-Accel-Buffering'].map((name) => answer?.headers?.[name] === undefined && `no ${name}`),
    ];
  });
  expect(findings).toEqual([]);
});

test('every member is described, and its examples are ones that it takes', () => {
  const findings = Object.entries(document.components.schemas).flatMap(([component, { properties = {} }]) =>
    Object.entries(properties).flatMap(([name, { $ref, description, examples = [] }]) => [
      ...($ref === undefined && !description ? [`${component}.${name}: no description`] : []),
      ...examples.flatMap((example) =>
        schemas
          .failures(['components', 'schemas', component, 'properties', name], example)
          .map((failure) => `${component}.${name}: ${failure}`),
      ),
    ]),
  );
  expect(findings).toEqual([]);
});

test('no error of a job path has a member `status`, and those under openai are of the form of OpenAI', () => {
  const examples = Object.entries(document.components.examples ?? {});
  expect(examples.length).toBeGreaterThan(10);
  for (const [, { value }] of examples) {
    expect(value).not.toHaveProperty('status');
    expect(schemas.failures(['components', 'schemas', 'JobProblem'], value)).toEqual([]);
  }
  const ofOpenAi = JSON.stringify(document.paths['/v2/{endpointId}/openai/{path}']);
  expect(ofOpenAi).not.toContain('problem+json');
});
