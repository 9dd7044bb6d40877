import { describe, expect, test } from '@jest/globals';
import type { Schema } from '@berth/contracts/http';
import type { ApiDocument } from './api-document.js';
import { toOpenApi31 } from './to-openapi-31.js';

const converted = (schema: Schema): Schema | undefined =>
  toOpenApi31({ openapi: '3.0.0', paths: {}, components: { schemas: { Given: schema } } }).components.schemas.Given;

describe('a schema', () => {
  test.each<[string, Schema, Schema]>([
    ['an example becomes the first of examples', { type: 'string', example: 'a' }, { type: 'string', examples: ['a'] }],
    [
      'null is an example too',
      { type: ['string', 'null'], example: null },
      { type: ['string', 'null'], examples: [null] },
    ],
    ['an exclusive bound becomes its own keyword', { minimum: 0, exclusiveMinimum: true }, { exclusiveMinimum: 0 }],
    ['an inclusive bound stays', { maximum: 9, exclusiveMaximum: false }, { maximum: 9 }],
    ['a bound of 3.1 stays', { exclusiveMaximum: 9, minimum: 1 }, { exclusiveMaximum: 9, minimum: 1 }],
    ['a closed object stays closed', { additionalProperties: false }, { additionalProperties: false }],
  ])('%s', (_, given, wanted) => {
    expect(converted(given)).toEqual(wanted);
  });

  test('is converted wherever it is inside another', () => {
    const given = { example: 1 };
    const wanted = { examples: [1] };
    const around = (schema: Schema): Schema => ({
      properties: { example: { items: schema } },
      additionalProperties: schema,
      allOf: [schema],
      anyOf: [schema],
      oneOf: [schema],
    });
    expect(converted(around(given))).toEqual(around(wanted));
  });
});

test('operations are converted in parameters, bodies and answers, and their own examples stay', () => {
  const media = (schema: Schema) => ({ 'application/json': { schema, examples: { full: { value: { example: 1 } } } } });
  const document = (version: string, schema: Schema): ApiDocument => ({
    openapi: version,
    components: { schemas: {} },
    paths: {
      '/things': {
        post: {
          operationId: 'Things.create',
          parameters: [
            { name: 'a', in: 'query', schema },
            { name: 'b', in: 'query' },
          ],
          requestBody: { content: media(schema) },
          responses: {
            201: { description: 'Created', content: media(schema) },
            204: { description: 'No Content' },
            default: { $ref: '#/components/responses/Problem' },
          },
        },
      },
    },
  });
  expect(toOpenApi31(document('3.0.0', { example: 1 }))).toEqual(document('3.1.0', { examples: [1] }));
});
