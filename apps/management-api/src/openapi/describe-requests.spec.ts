import { expect, test } from '@jest/globals';
import type { Schema, Schemas } from '@berth/contracts/http';
import type { ApiDocument, Operation } from '@berth/http';
import { describeRequests } from './describe-requests.js';

const NAME = { type: 'string', examples: ['a'] };
const JSON_TYPE = 'application/json';

const documentOf = (schemas: Schemas, examples?: Record<string, { value: unknown }>): ApiDocument => ({
  openapi: '3.1.0',
  components: { schemas },
  paths: {
    '/things': {
      post: {
        operationId: 'Things.create',
        requestBody: {
          content: {
            [JSON_TYPE]: {
              schema: { $ref: '#/components/schemas/Thing' },
              ...(examples === undefined ? {} : { examples }),
            },
          },
        },
        responses: {
          201: { description: '', content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Seen' } } } },
        },
      },
    },
  },
});

const described = (thing: Schema): Schema | undefined =>
  describeRequests(documentOf({ Thing: thing })).components.schemas.Thing;

const examplesOf = (document: ApiDocument): unknown => {
  const operation: Operation | undefined = document.paths['/things']?.post;
  return operation?.requestBody?.content[JSON_TYPE]?.examples;
};

test('what a body is made of refuses unknown members; answers may grow', () => {
  const { Inner, Item, Seen, Thing } = describeRequests(
    documentOf({
      Thing: {
        examples: [{}],
        properties: {
          inner: { allOf: [{ $ref: '#/components/schemas/Inner' }] },
          items: { items: { oneOf: [{ $ref: '#/components/schemas/Item' }] } },
        },
      },
      Inner: { properties: { again: { $ref: '#/components/schemas/Inner' } } },
      Item: { properties: {} },
      Seen: { properties: {} },
    }),
  ).components.schemas;
  expect([Thing, Inner, Item].map((schema) => schema?.additionalProperties)).toEqual([false, false, false]);
  expect(Seen?.additionalProperties).toBeUndefined();
});

test('what fields say of one another is a rule of the object', () => {
  const thing = described({
    properties: {
      image: { ...NAME, 'x-required-unless': 'templateId' },
      templateId: NAME,
      gpu: { ...NAME, 'x-either-or': 'cpu' },
      cpu: NAME,
      excluded: { ...NAME, 'x-requires': 'gpu' },
      exact: { ...NAME, 'x-excludes': 'floor' },
      floor: NAME,
    },
  });
  expect(thing).toMatchObject({
    properties: { image: NAME, templateId: NAME, gpu: NAME, cpu: NAME, excluded: NAME, exact: NAME, floor: NAME },
    dependentRequired: { excluded: ['gpu'] },
    if: {},
    then: {
      allOf: [
        { anyOf: [{ required: ['image'] }, { required: ['templateId'] }] },
        { oneOf: [{ required: ['gpu'] }, { required: ['cpu'] }] },
        { not: { required: ['exact', 'floor'] } },
      ],
    },
  });
  expect(JSON.stringify(thing)).not.toContain('x-');
});

test('a body without examples gets a minimal and a full one', () => {
  const Thing = {
    required: ['name'],
    properties: {
      name: NAME,
      size: { $ref: '#/components/schemas/Size' },
      kinds: { type: 'array', items: { enum: ['x', 'y'] } },
      scaling: { oneOf: [{ $ref: '#/components/schemas/Size' }, { $ref: '#/components/schemas/Thing' }] },
    },
  };
  const Size = { properties: { height: { type: 'integer', default: 3 }, width: { type: 'integer', examples: [4] } } };
  const document = describeRequests(documentOf({ Thing, Size }));
  expect(examplesOf(document)).toMatchObject({
    minimal: { value: { name: 'a' } },
    full: { value: { name: 'a', size: { height: 3, width: 4 }, kinds: ['x'], scaling: { height: 3, width: 4 } } },
  });
});

test('examples keep the rules between fields', () => {
  const properties = {
    image: { ...NAME, 'x-required-unless': 'templateId' },
    templateId: NAME,
    gpu: { ...NAME, 'x-either-or': 'cpu' },
    cpu: NAME,
    exact: { ...NAME, 'x-excludes': 'floor' },
    floor: NAME,
    door: { ...NAME, 'x-of-some-kinds': 'true' },
  };
  expect(examplesOf(describeRequests(documentOf({ Thing: { properties } })))).toMatchObject({
    minimal: { value: { image: 'a', gpu: 'a' } },
    full: { value: { image: 'a', templateId: 'a', gpu: 'a', exact: 'a' } },
  });
});

test('where nothing is required, the minimal example is the first member', () => {
  const document = describeRequests(documentOf({ Thing: { properties: { name: NAME, other: NAME } } }));
  expect(examplesOf(document)).toMatchObject({ minimal: { value: { name: 'a' } } });
});

test('the examples of a handler are kept', () => {
  const examples = { own: { value: { name: 'b' } } };
  expect(examplesOf(describeRequests(documentOf({ Thing: { properties: { name: NAME } } }, examples)))).toEqual(
    examples,
  );
});
