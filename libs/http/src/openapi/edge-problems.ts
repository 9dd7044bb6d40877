import type { ErrorCode } from '@berth/domain';
import { STATUS_CODES } from 'node:http';
import { PROBLEMS } from '../problems/problem-types.js';
import {
  mapValues,
  type ApiResponse,
  type Content,
  type NamedExample,
  type Operation,
  type Reference,
} from './api-document.js';
import type { EdgeAnswers } from './edge-answers.js';
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
const WITH_QUERY: readonly ErrorCode[] = ['invalid-query'];
const WITH_PRECONDITION: readonly ErrorCode[] = ['invalid-header', 'precondition-failed'];
const WITH_IDEMPOTENCY_KEY: readonly ErrorCode[] = [
  'invalid-header',
  'idempotency-key-reused',
  'idempotency-in-progress',
];

/** The common parts of the answers of one interface. */
export class EdgeProblems {
  readonly #answers: EdgeAnswers;
  /** Where the common problems of a status are all that an operation has of it, they are referred to instead of repeated. */
  readonly #shared: ReadonlyMap<number, readonly ErrorCode[]>;

  constructor(answers: EdgeAnswers) {
    this.#answers = answers;
    this.#shared = Map.groupBy([...ALWAYS, ...WITH_KEY, ...WITH_CONTENT, ...answers.sharedProblems], statusOf);
  }

  /** @param method in lower case. @param isPublic needs no key */
  of(operation: Operation, method: string, isPublic: boolean): readonly ErrorCode[] {
    const has = (place: string, name?: string): boolean =>
      operation.parameters?.some((each) => each.in === place && (name === undefined || each.name === name)) === true;
    return [
      ...(isPublic ? [] : WITH_KEY),
      ...ALWAYS,
      ...(method === 'get' ? [] : WITH_CONTENT),
      ...(operation.requestBody === undefined ? [] : this.#answers.bodyProblems),
      ...(has('path') ? WITH_ID : []),
      ...(has('query') ? WITH_QUERY : []),
      ...(has('header', 'If-Match') ? WITH_PRECONDITION : []),
      ...(has('header', 'Idempotency-Key') ? WITH_IDEMPOTENCY_KEY : []),
    ];
  }

  /** One answer per status. @param codes in any order */
  answers(codes: readonly ErrorCode[]): Readonly<Record<string, ApiResponse | Reference>> {
    const answers = [...Map.groupBy(new Set(codes), statusOf)].map(
      ([status, ofStatus]): [string, ApiResponse | Reference] => [
        String(status),
        this.#isShared(status, ofStatus)
          ? { $ref: `#/components/responses/${nameOf(status)}` }
          : this.#answer(status, ofStatus),
      ],
    );
    return { ...Object.fromEntries(answers), default: { $ref: '#/components/responses/Problem' } };
  }

  /** The answers that `answers` refers to. */
  shared(): Readonly<Record<string, ApiResponse>> {
    const headers = headerReferences(['X-Request-Id']);
    return {
      ...Object.fromEntries([...this.#shared].map(([status, codes]) => [nameOf(status), this.#answer(status, codes)])),
      Problem: { description: 'Any other problem.', headers, content: this.#contentOf([]) },
    };
  }

  /** Every problem, under its code: the examples that the answers refer to. */
  examples(): Readonly<Record<string, NamedExample>> {
    return mapValues(PROBLEMS, ({ title }, code) => ({
      summary: title,
      value: this.#answers.problemExample(code as ErrorCode),
    }));
  }

  /** Of every answer with this status. */
  headersOf(status: number): readonly EdgeHeader[] {
    return BEFORE_KEY.has(status) ? ['X-Request-Id'] : ['X-Request-Id', ...this.#answers.limitHeaders];
  }

  #answer(status: number, codes: readonly ErrorCode[]): ApiResponse {
    return {
      description: codes.map((code) => PROBLEMS[code].title).join('; '),
      headers: headerReferences([...this.headersOf(status), ...(HEADERS_OF_STATUS[status] ?? [])]),
      content: this.#contentOf(codes),
    };
  }

  #contentOf(codes: readonly ErrorCode[]): Content {
    return {
      'application/problem+json': {
        schema: { $ref: `#/components/schemas/${this.#answers.problemSchema}` },
        ...(codes.length === 0
          ? {}
          : { examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])) }),
      },
    };
  }

  #isShared(status: number, codes: readonly ErrorCode[]): boolean {
    const shared = this.#shared.get(status) ?? [];
    return codes.length === shared.length && codes.every((code) => shared.includes(code));
  }
}

const HEADERS_OF_STATUS: Readonly<Record<number, readonly EdgeHeader[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  412: ['ETag'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** The statuses with which the edge refuses before it knows the key, and therefore the limits. */
const BEFORE_KEY: ReadonlySet<number> = new Set([401, 405, 413, 415]);

/** `Too Many Requests` is the component `TooManyRequests`. */
const nameOf = (status: number): string => (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');

function statusOf(code: ErrorCode): number {
  return PROBLEMS[code].status;
}
