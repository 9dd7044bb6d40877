import { describe, expect, test } from '@jest/globals';
import type { ApiDocument, Operation } from './api-document.js';
import { describeEdge } from './describe-edge.js';
import type { EdgeAnswers } from './edge-answers.js';

const EDGE: Omit<EdgeAnswers, 'accessOf'> = {
  parametersAfter: { serverless: { description: 'Id of the endpoint.' } },
  problemSchema: 'ProblemBody',
  problemExample: () => ({}),
  bodyProblems: ['body-not-json', 'invalid-fields'],
  sharedProblems: ['invalid-fields', 'precondition-failed'],
  limitHeaders: ['RateLimit'],
};
const edgeOf = (accessOf: EdgeAnswers['accessOf']): EdgeAnswers => ({ ...EDGE, accessOf });
const OPERATION: Operation = { operationId: 'Things.do', responses: { 200: { description: '', content: {} } } };
const header = (name: string) => ({ name, in: 'header', schema: {} });

const documentOf = (paths: ApiDocument['paths']): ApiDocument => ({
  openapi: '3.1.0',
  paths,
  components: { schemas: {} },
});

const described = (method: string, path: string, more: Partial<Operation> = {}): Operation => {
  const document = documentOf({ [path]: { [method]: { ...OPERATION, ...more } } });
  const { paths } = describeEdge(
    document,
    edgeOf(() => ({ kind: 'scope', scope: 'serverless:read' })),
  );
  return paths[path]?.[method] ?? OPERATION;
};

const statusesOf = ({ responses }: Operation): string[] => Object.keys(responses);

const headersOf = ({ responses }: Operation | undefined = OPERATION, status: string): string[] => {
  const answer = responses[status];
  return answer !== undefined && 'headers' in answer ? Object.keys(answer.headers ?? {}) : [];
};

const codesOf = ({ responses }: Operation, status: string): unknown => {
  const answer = responses[status];
  if (answer === undefined || '$ref' in answer) return answer;
  return Object.keys(answer.content?.['application/problem+json']?.examples ?? {});
};

describe('an operation that needs a key', () => {
  test('names its scope, for programs and for people', () => {
    expect(described('get', '/things', { description: 'What it does.' })).toMatchObject({
      security: [{ apiKey: ['serverless:read'] }],
      description: 'What it does.\n\nNeeds the scope `serverless:read`.',
    });
  });

  test('answers what the edge answers around any handler', () => {
    expect(statusesOf(described('get', '/things'))).toEqual([
      '200',
      '401',
      '403',
      '405',
      '429',
      '500',
      '503',
      'default',
    ]);
    const requestBody = { content: {} };
    const more = ['400', '413', '415', '422'];
    expect(statusesOf(described('post', '/things', { requestBody }))).toEqual(expect.arrayContaining(more));
  });

  test('refers to an answer that is the same everywhere, and has its own where the handler adds to it', () => {
    const shared = described('get', '/things');
    expect(codesOf(shared, '403')).toEqual({ $ref: '#/components/responses/Forbidden' });
    const own = described('get', '/things/{id}', { 'x-problems': ['host-not-joined', 'host-not-found'] });
    expect(codesOf(own, '403')).toEqual(['host-not-joined', 'scope-missing']);
    expect(codesOf(own, '404')).toEqual(['host-not-found', 'route-not-found']);
    expect(own).not.toHaveProperty('x-problems');
  });
});

test('an operation that is open to everybody answers nothing about keys', () => {
  const { paths } = describeEdge(
    documentOf({ '/pages': { get: OPERATION } }),
    edgeOf(() => ({ kind: 'public' })),
  );
  const page = paths['/pages']?.get ?? OPERATION;
  expect(page.security).toEqual([]);
  expect(statusesOf(page)).toEqual(['200', '405', '500', 'default']);
});

test('parameters of a path are there, also those that the handler does not declare', () => {
  const [id] = described('get', '/v2/serverless/{id}').parameters ?? [];
  expect(id).toMatchObject({ name: 'id', in: 'path', required: true, description: 'Id of the endpoint.' });
});

test('what is changed under a precondition shows its version, where it is made, read and changed', () => {
  const { paths } = describeEdge(
    documentOf({
      '/things': { get: OPERATION, post: OPERATION },
      '/things/{id}': {
        get: OPERATION,
        patch: { ...OPERATION, parameters: [header('If-Match')] },
        delete: { ...OPERATION, responses: { 204: { description: '' } } },
      },
    }),
    edgeOf(() => undefined),
  );
  const [list, one] = [paths['/things'], paths['/things/{id}']];
  expect(headersOf(one?.get, '200')).toContain('ETag');
  expect(headersOf(one?.get, '304')).toContain('ETag');
  expect(headersOf(one?.patch, '200')).toContain('ETag');
  expect(headersOf(list?.post, '200')).toContain('ETag');
  expect(headersOf(list?.get, '200')).not.toContain('ETag');
  expect(headersOf(one?.delete, '204')).not.toContain('ETag');
  expect(one?.get?.parameters?.map(({ name }) => name)).toEqual(['id', 'If-None-Match']);
  expect(statusesOf(one?.patch ?? OPERATION)).toEqual(expect.arrayContaining(['400', '412']));
});

test('what may be asked for again says so', () => {
  const create = described('post', '/things', { parameters: [header('Idempotency-Key')] });
  expect(headersOf(create, '200')).toContain('Idempotency-Replayed');
  expect(codesOf(create, '409')).toEqual(['idempotency-key-reused', 'idempotency-in-progress']);
});
