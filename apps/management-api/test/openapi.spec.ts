import { Validator } from '@seriousme/openapi-schema-validator';
import { SCOPES } from '@berth/domain';
import { DocumentSchemas } from '@berth/testing/contract';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Schema } from '@berth/contracts/http';
import type { ApiDocument, ApiResponse, NamedExample, Operation, OperationPlace, Reference } from '@berth/http';
import { generateOpenApi } from '../src/openapi/generate-openapi.js';

const JSON_TYPE = 'application/json';
const PROBLEM_TYPE = 'application/problem+json';

let document: ApiDocument;
let schemas: DocumentSchemas;

beforeAll(async () => {
  document = JSON.parse(await generateOpenApi()) as ApiDocument;
  schemas = new DocumentSchemas(document);
});

interface Placed extends OperationPlace {
  readonly operation: Operation;
  readonly name: string;
}

const operations = (): readonly Placed[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method,
      operation,
      name: `${method.toUpperCase()} ${path}`,
    })),
  );

/** Everything that is missing anywhere, so that one run tells the whole story. */
const missing = (find: (placed: Placed) => readonly (string | false)[]): readonly string[] =>
  operations().flatMap((placed) =>
    find(placed)
      .filter((finding) => finding !== false)
      .map((finding) => `${placed.name}: ${finding}`),
  );

const resolved = (answer: ApiResponse | Reference | undefined): ApiResponse | undefined =>
  answer !== undefined && '$ref' in answer
    ? document.components.responses?.[answer.$ref.split('/').at(-1) ?? '']
    : answer;

const takes = ({ parameters = [] }: Operation, header: string): boolean =>
  parameters.some(({ in: place, name }) => place === 'header' && name === header);

test('it is OpenAPI 3.1, by the schema of OpenAPI 3.1', async () => {
  expect(document.openapi).toBe('3.1.0');
  expect(await new Validator().validate({ ...structuredClone(document) })).toEqual({ valid: true });
});

/** Every text for people, with its place. */
function descriptionsIn(value: unknown, place: string): readonly (readonly [string, string])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === 'description' && typeof member === 'string'
      ? [[place, member] as const]
      : descriptionsIn(member, `${place}/${key}`),
  );
}

/** Lines that a Markdown reader takes for a numbered item, and that do not go on with a list from 1. */
function strayNumbers(text: string): readonly string[] {
  let expected = 1;
  return text.split('\n').filter((line) => {
    const number = /^ {0,3}(\d{1,9})[.)](\s|$)/.exec(line)?.[1];
    if (number === undefined) return false;
    const isStray = Number(number) !== expected && Number(number) !== 1;
    expected = Number(number) + 1;
    return isStray;
  });
}

test('no sentence of its text turns into a numbered list', () => {
  const descriptions = descriptionsIn(document, '');
  expect(descriptions.length).toBeGreaterThan(100);
  const findings = descriptions.flatMap(([place, text]) => strayNumbers(text).map((line) => `${place}: ${line}`));
  expect(findings).toEqual([]);
});

describe('every operation', () => {
  test('says what it is, under a tag that is described', () => {
    const tags = document.tags?.map(({ name }) => name) ?? [];
    const findings = missing(({ operation }) => [
      !operation.summary && 'no summary',
      !operation.tags?.every((tag) => tags.includes(tag)) && `no description of the tag ${operation.tags?.join()}`,
      operation.tags?.length !== 1 && 'not one tag',
    ]);
    expect(findings).toEqual([]);
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('says which scope it needs, or that it needs none', () => {
    const findings = missing(({ operation: { security } }) => [
      security === undefined && 'no word on keys',
      security?.some(({ apiKey }) => !SCOPES.some((scope) => scope === apiKey?.[0])) === true && 'no scope',
    ]);
    expect(findings).toEqual([]);
    const isPublic = ({ operation }: Placed): boolean => operation.security?.length === 0;
    expect(
      operations()
        .filter(isPublic)
        .map(({ path }) => path),
    ).toEqual(['/docs/problems/{code}']);
  });

  test('describes each parameter with its bounds and an example', () => {
    const findings = missing(({ operation, path }) => [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(
        ([, name]) => operation.parameters?.every((each) => each.name !== name) === true && `no parameter ${name}`,
      ),
      ...(operation.parameters ?? []).flatMap(({ description, name, schema = {} }) => [
        !description && `no description of ${name}`,
        schema.examples === undefined && `no example of ${name}`,
        schema.type === undefined && `no type of ${name}`,
        schema.type === 'integer' && schema.maximum === undefined && `no bounds of ${name}`,
      ]),
    ]);
    expect(findings).toEqual([]);
  });

  test('gives examples of its body, which its schema takes', () => {
    const findings = missing(({ method, operation: { requestBody }, path }) => {
      if (requestBody === undefined) return [];
      const examples = (requestBody.content[JSON_TYPE]?.examples ?? {}) as Readonly<Record<string, NamedExample>>;
      const place = ['paths', path, method, 'requestBody', 'content', JSON_TYPE, 'schema'];
      return [
        requestBody.required !== true && 'the body is not required',
        examples['full'] === undefined && 'no full example',
        ...Object.entries(examples).flatMap(([name, { value }]) =>
          schemas.failures(place, value).map((failure) => `example ${name}: ${failure}`),
        ),
      ];
    });
    expect(findings).toEqual([]);
  });

  test('says what it answers, with the headers of the edge', () => {
    const findings = missing(({ operation: { responses } }) => [
      !Object.keys(responses).some((status) => status.startsWith('2')) && 'no success',
      ...Object.entries(responses).flatMap(([status, answer]) => {
        const { description = '', headers = {} } = resolved(answer) ?? {};
        return [!description && `no description of ${status}`, !headers['X-Request-Id'] && `no headers of ${status}`];
      }),
    ]);
    expect(findings).toEqual([]);
  });

  test('names every status with which the edge may refuse it', () => {
    const findings = missing(({ method, operation, path }) => {
      const isPublic = operation.security?.length === 0;
      const expected = [
        ...['405', '500', 'default'],
        ...(isPublic ? [] : ['401', '403', '429', '503']),
        ...(path.includes('{') ? ['404'] : []),
        ...(method === 'get' ? [] : ['413', '415']),
        ...(operation.requestBody === undefined ? [] : ['400', '422']),
        ...(operation.parameters?.some((each) => each.in === 'query') === true ? ['400'] : []),
        ...(takes(operation, 'If-Match') ? ['400', '412'] : []),
        ...(takes(operation, 'Idempotency-Key') ? ['400', '409'] : []),
      ];
      return expected.map((status) => operation.responses[status] === undefined && `no ${status}`);
    });
    expect(findings).toEqual([]);
  });

  test('gives an example of each problem that it may answer', () => {
    const findings = missing(({ operation: { responses } }) =>
      Object.entries(responses).flatMap(([status, answer]) => {
        const media = resolved(answer)?.content?.[PROBLEM_TYPE];
        if (media === undefined || status === 'default') return [];
        const codes = Object.keys(media.examples ?? {});
        return [codes.length === 0 && `no example of ${status}`, ...codes.map((code) => problemFailure(code, status))];
      }),
    );
    expect(findings).toEqual([]);
  });
});

const problemFailure = (code: string, status: string): string | false => {
  const value = document.components.examples?.[code]?.value;
  if ((value as { status?: unknown } | undefined)?.status !== Number(status)) return `${code} is not ${status}`;
  const failures = schemas.failures(['components', 'schemas', 'ProblemBody'], value);
  return failures.length > 0 && `${code}: ${failures.join()}`;
};

describe('every member of a body', () => {
  const members = (): readonly (readonly [string, Schema])[] =>
    Object.entries(document.components.schemas).flatMap(([component, { properties = {} }]) =>
      Object.entries(properties).map(([name, schema]) => [`${component}.${name}`, schema] as const),
    );

  test('is described', () => {
    const findings = members().filter(([, { description }]) => !description);
    expect(findings.map(([name]) => name)).toEqual([]);
  });

  test('has an example, unless it is made of members that have', () => {
    const isMade = ({ allOf, anyOf, items, oneOf, $ref }: Schema): boolean =>
      $ref !== undefined || [allOf, anyOf, oneOf].some((list) => list !== undefined) || items?.$ref !== undefined;
    const findings = members().filter(([, schema]) => schema.examples === undefined && !isMade(schema));
    expect(findings.map(([name]) => name)).toEqual([]);
  });

  test('has examples and a default that it takes itself', () => {
    const findings = members().flatMap(([name, { default: preset, examples = [] }]) => {
      const [component = '', member = ''] = name.split('.');
      const place = ['components', 'schemas', component, 'properties', member];
      const values = preset === undefined ? examples : [...examples, preset];
      return values.flatMap((value) => schemas.failures(place, value).map((failure) => `${name}: ${failure}`));
    });
    expect(findings).toEqual([]);
  });

  test('has bounds where callers send it', () => {
    const isBounded = ({
      enum: choices,
      format,
      items,
      maximum,
      maxItems,
      maxLength,
      pattern,
      type,
    }: Schema): boolean => {
      if (choices !== undefined || pattern !== undefined || format === 'date-time') return true;
      if (type === 'array') return maxItems !== undefined && (items === undefined || isBounded(items));
      if ([type].flat().includes('string')) return maxLength !== undefined;
      return type === 'integer' || type === 'number' ? maximum !== undefined : true;
    };
    const isSent = (name: string): boolean =>
      document.components.schemas[name.split('.')[0] ?? '']?.additionalProperties === false;
    const findings = members().filter(([name, schema]) => isSent(name) && !isBounded(schema));
    expect(findings.map(([name]) => name)).toEqual([]);
  });
});
