import { describe, expect, test } from '@jest/globals';
import type { ApiDocument } from '@berth/http';
import { ContractChecker, type CheckedExchange } from './contract-checker.js';

const THING = { $ref: '#/components/schemas/Thing' };
const PROBLEM = { $ref: '#/components/schemas/Problem' };

const DOCUMENT: ApiDocument = {
  openapi: '3.1.0',
  components: {
    schemas: {
      Thing: { type: 'object', required: ['id'], properties: { id: { type: 'string' }, at: { format: 'date-time' } } },
      Problem: { type: 'object', required: ['type'], properties: { type: { type: 'string', format: 'uri' } } },
    },
    headers: {
      ETag: { description: '', required: true, schema: { pattern: '^"' } },
      'Retry-After': { description: '', required: true, schema: { type: 'integer' } },
    },
    responses: {
      NotAllowed: {
        description: '',
        content: { 'application/problem+json': { schema: PROBLEM, examples: { wrong: { value: {} } } } },
      },
    },
  },
  paths: {
    '/things/{id}': {
      put: {
        operationId: 'Things.put',
        requestBody: { content: { 'application/json': { schema: THING } } },
        responses: {
          200: {
            description: '',
            headers: { ETag: { $ref: '#/components/headers/ETag' } },
            content: { 'application/json': { schema: THING } },
          },
          204: { description: '' },
          405: { $ref: '#/components/responses/NotAllowed' },
        },
      },
    },
    '/things/rest/{path}': {
      get: {
        operationId: 'Things.rest',
        parameters: [{ name: 'path', in: 'path', schema: { type: 'string', 'x-multi-segment': true } }],
        responses: { '4XX': { description: '', content: { 'application/json': { schema: THING } } } },
      },
    },
    '/things/first': {
      get: { operationId: 'Things.first', responses: { 200: { description: '', content: { 'text/plain': {} } } } },
    },
  },
};

const GOOD = {
  method: 'PUT',
  path: '/things/1?x=y',
  sent: '{"id":"1"}',
  status: 200,
  type: 'application/json; charset=utf-8',
  headers: { etag: '"1"' },
  received: '{"id":"1","at":"2026-01-01T12:00:00.000Z"}',
};

const check = ({ headers, type, ...more }: Partial<typeof GOOD>): void => {
  const exchange: CheckedExchange = {
    ...GOOD,
    ...more,
    headers: new Headers({ 'content-type': type ?? GOOD.type, ...(headers ?? GOOD.headers) }),
  };
  new ContractChecker(DOCUMENT).check(exchange);
};

const PROBLEM_ANSWER = { status: 405, type: 'application/problem+json', headers: {} as { etag: string } };

describe('what is as documented passes', () => {
  test.each<[string, Partial<typeof GOOD>]>([
    ['a body with its header', {}],
    ['no body where there is none', { status: 204, received: '', headers: {} as { etag: string } }],
    [
      'a path without parameters before one with',
      { method: 'GET', path: '/things/first', type: 'text/plain', received: 'x', headers: {} as { etag: string } },
    ],
    [
      'HEAD, like GET without its body',
      { method: 'HEAD', path: '/things/first', received: '', headers: {} as { etag: string } },
    ],
    [
      'a parameter of several parts, and a status of a documented kind',
      { method: 'GET', path: '/things/rest/a/b', status: 418, headers: {} as { etag: string } },
    ],
    ['404 of a path that is nowhere', { path: '/nowhere', status: 404 }],
    [
      'a method that the path lacks',
      { ...PROBLEM_ANSWER, method: 'DELETE', received: '{"type":"https://x.test/wrong"}' },
    ],
  ])('%s', (_, exchange) => {
    expect(() => {
      check(exchange);
    }).not.toThrow();
  });
});

describe('what is other than documented is an error that says so', () => {
  test.each<[string, Partial<typeof GOOD>]>([
    ['there is no such path', { path: '/nowhere' }],
    ['there is no such operation', { method: 'GET' }],
    ['the status is not documented; there are 200, 204, 405', { status: 201 }],
    ['the content type text/html is not documented', { type: 'text/html' }],
    ['there is a body where none is documented', { status: 204, headers: {} as { etag: string } }],
    ['must have required property', { received: '{}' }],
    ['must match format "date-time"', { received: '{"id":"1","at":"yesterday"}' }],
    ['must NOT have additional properties', { received: '{"id":"1","more":1}' }],
    ['the header ETag is missing', { headers: {} as { etag: string } }],
    ['the header ETag: / must match pattern', { headers: { etag: '1' } }],
    ['the header Retry-After is not documented', { headers: { etag: '"1"', 'retry-after': '1' } as { etag: string } }],
    [
      'the problem other is not documented here; there are wrong',
      { ...PROBLEM_ANSWER, received: '{"type":"https://x.test/other"}' },
    ],
    ['it accepted a body that the document refuses', { sent: '{"id":1}' }],
  ])('%s', (complaint, exchange) => {
    expect(() => {
      check(exchange);
    }).toThrow(complaint);
  });
});
