import type { ErrorCode } from '@berth/domain';
import { PROBLEMS, ProblemBody, problemExample } from '@berth/http';
import { getSchemaPath } from '@nestjs/swagger';
import { STATUS_CODES } from 'node:http';
import {
  mapValues,
  type ApiResponse,
  type Content,
  type NamedExample,
  type Operation,
  type Reference,
} from './api-document.js';
import { headerReferences, type EdgeHeader } from './edge-headers.js';

/** The problems that the edge answers on any path, whatever the handler does. */
const ALWAYS: readonly ErrorCode[] = ['method-not-allowed', 'internal-error'];
const WITH_KEY: readonly ErrorCode[] = [
  'missing-api-key',
  'invalid-api-key',
  'scope-missing',
  'rate-limited',
  'service-unavailable',
];
/** Of any path with an id: one that cannot be an id names nothing. */
const WITH_ID: readonly ErrorCode[] = ['route-not-found'];
/** Of any method that may carry a body, wanted or not. */
const WITH_CONTENT: readonly ErrorCode[] = ['body-too-large', 'unsupported-media-type'];
const WITH_BODY: readonly ErrorCode[] = ['body-not-json', 'invalid-fields'];
const WITH_QUERY: readonly ErrorCode[] = ['invalid-query'];
const WITH_PRECONDITION: readonly ErrorCode[] = ['invalid-header', 'precondition-failed'];
const WITH_IDEMPOTENCY_KEY: readonly ErrorCode[] = [
  'invalid-header',
  'idempotency-key-reused',
  'idempotency-in-progress',
];

/** Where the common problems of a status are all that an operation has of it, they are referred to instead of repeated. */
const SHARED = Map.groupBy(
  [...ALWAYS, ...WITH_KEY, ...WITH_CONTENT, 'invalid-fields', 'precondition-failed'],
  statusOf,
);

/** @param method in lower case. @param isPublic needs no key */
export function edgeProblems(operation: Operation, method: string, isPublic: boolean): readonly ErrorCode[] {
  const has = (place: string, name?: string): boolean =>
    operation.parameters?.some((each) => each.in === place && (name === undefined || each.name === name)) === true;
  return [
    ...(isPublic ? [] : WITH_KEY),
    ...ALWAYS,
    ...(method === 'get' ? [] : WITH_CONTENT),
    ...(operation.requestBody === undefined ? [] : WITH_BODY),
    ...(has('path') ? WITH_ID : []),
    ...(has('query') ? WITH_QUERY : []),
    ...(has('header', 'If-Match') ? WITH_PRECONDITION : []),
    ...(has('header', 'Idempotency-Key') ? WITH_IDEMPOTENCY_KEY : []),
  ];
}

/** One answer per status. @param codes in any order */
export const problemAnswers = (codes: readonly ErrorCode[]): Readonly<Record<string, ApiResponse | Reference>> => ({
  ...Object.fromEntries(
    [...Map.groupBy(new Set(codes), statusOf)].map(([status, ofStatus]) => [
      String(status),
      isShared(status, ofStatus) ? { $ref: `#/components/responses/${nameOf(status)}` } : answer(status, ofStatus),
    ]),
  ),
  default: { $ref: '#/components/responses/Problem' },
});

/** The answers that `problemAnswers` refers to. */
export const sharedAnswers = (): Readonly<Record<string, ApiResponse>> => ({
  ...Object.fromEntries([...SHARED].map(([status, codes]) => [nameOf(status), answer(status, codes)])),
  Problem: { description: 'Any other problem.', headers: headerReferences(['X-Request-Id']), content: contentOf([]) },
});

/** Every problem, under its code: the examples that the answers refer to. */
export const problemExamples = (): Readonly<Record<string, NamedExample>> =>
  mapValues(PROBLEMS, ({ title }, code) => ({ summary: title, value: problemExample(code as ErrorCode) }));

const answer = (status: number, codes: readonly ErrorCode[]): ApiResponse => ({
  description: codes.map((code) => PROBLEMS[code].title).join('; '),
  headers: headerReferences([...answerHeaders(status), ...(HEADERS_OF_STATUS[status] ?? [])]),
  content: contentOf(codes),
});

const contentOf = (codes: readonly ErrorCode[]): Content => ({
  'application/problem+json': {
    schema: { $ref: getSchemaPath(ProblemBody) },
    ...(codes.length === 0
      ? {}
      : { examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])) }),
  },
});

const HEADERS_OF_STATUS: Readonly<Record<number, readonly EdgeHeader[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  412: ['ETag'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** What the edge refuses before it knows the key, and therefore the limits. */
const BEFORE_KEY: ReadonlySet<number> = new Set([401, 405, 413, 415]);

/** Of every answer with this status. */
export const answerHeaders = (status: number): readonly EdgeHeader[] =>
  BEFORE_KEY.has(status) ? ['X-Request-Id'] : ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'];

const isShared = (status: number, codes: readonly ErrorCode[]): boolean => {
  const shared = SHARED.get(status) ?? [];
  return codes.length === shared.length && codes.every((code) => shared.includes(code));
};

/** `Too Many Requests` is the component `TooManyRequests`. */
const nameOf = (status: number): string => (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');

function statusOf(code: ErrorCode): number {
  return PROBLEMS[code].status;
}
