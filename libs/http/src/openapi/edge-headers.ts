import type { Header, Reference } from './api-document.js';

const listOf = (item: string): string => `^${item}(, ${item})*$`;

/** Every header field with which the edge answers, by its name. */
export const EDGE_HEADERS = {
  'X-Request-Id': {
    description: 'Id of the request, under which the log knows it.',
    required: true,
    schema: { type: 'string', pattern: '^req_[a-z0-9]+$', examples: ['req_q8w2e5r1t6y9ui3o4p7a0s1d'] },
  },
  RateLimit: {
    description:
      'What is left of each window: `r` requests, and `t` seconds until it is full again. Absent without limits.',
    required: false,
    schema: {
      type: 'string',
      pattern: listOf('"[a-z]+";r=[0-9]+;t=[0-9]+'),
      examples: ['"minute";r=58;t=12, "hour";r=2998;t=1812, "day";r=49998;t=45012'],
    },
  },
  'RateLimit-Policy': {
    description: 'The windows themselves: `q` requests in `w` seconds. Absent without limits.',
    required: false,
    schema: {
      type: 'string',
      pattern: listOf('"[a-z]+";q=[0-9]+;w=[0-9]+'),
      examples: ['"minute";q=60;w=60, "hour";q=3000;w=3600, "day";q=50000;w=86400'],
    },
  },
  'Retry-After': {
    description: 'Seconds after which a new try makes sense.',
    required: true,
    schema: { type: 'integer', minimum: 0, examples: [12] },
  },
  ETag: {
    description: 'The version of what is shown: for `If-Match`, and for `If-None-Match`.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9]+"$', examples: ['"7"'] },
  },
  'Idempotency-Replayed': {
    description: 'This is the answer to the first request with the same `Idempotency-Key`.',
    required: false,
    schema: { type: 'string', const: 'true', examples: ['true'] },
  },
  Allow: {
    description: 'The methods that the path does answer.',
    required: true,
    schema: { type: 'string', examples: ['GET, POST'] },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    required: true,
    schema: { type: 'string', const: 'Bearer', examples: ['Bearer'] },
  },
} as const satisfies Record<string, Header>;

export type EdgeHeader = keyof typeof EDGE_HEADERS;

export const headerReferences = (names: readonly string[]): Readonly<Record<string, Reference>> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
