import type { ErrorCode } from '@berth/domain';
import { PROBLEMS } from './problem-types.js';

interface ProblemExample {
  readonly detail: string;
  readonly errors?: readonly string[];
}

/** The text that a caller would read; where the title says it all, the title is the detail. */
const EXAMPLES: Partial<Record<ErrorCode, ProblemExample>> = {
  'body-not-json': { detail: 'The body is not valid JSON.' },
  'body-too-large': { detail: 'The body is larger than this path accepts.' },
  'idempotency-in-progress': { detail: 'The first request with this Idempotency-Key is still under way.' },
  'idempotency-key-reused': { detail: 'This Idempotency-Key was used for another request.' },
  'internal-error': { detail: 'Something failed on our side. The request id names it in the log.' },
  'invalid-api-key': { detail: 'invalid bearer token' },
  'invalid-fields': {
    detail: '2 fields failed validation: $.name: is required …',
    errors: ['$.name: is required', "$: additional properties 'bogus' not allowed"],
  },
  'invalid-header': { detail: 'If-Match is neither * nor a list of entity tags.' },
  'invalid-query': {
    detail: 'One field failed validation: $.limit: must be an integer',
    errors: ['$.limit: must be an integer'],
  },
  'limit-reached': { detail: 'The account may have 1000 endpoints (account limit endpoints).' },
  'method-not-allowed': { detail: 'This path answers GET, POST.' },
  'missing-api-key': { detail: 'missing bearer token' },
  'network-volume-in-use': { detail: 'Network volume k3v9x0q2m7a1zd is used by endpoint q8w2e5r1t6y9ui.' },
  'precondition-failed': { detail: 'The resource has changed since it was read; read it again.' },
  'rate-limited': { detail: 'rate limit exceeded for the minute window' },
  'registry-in-use': { detail: 'Registry k3v9x0q2m7a1zd is used by endpoint q8w2e5r1t6y9ui.' },
  'rule-conflict': {
    detail: "The fields contradict each other: $: send one of 'gpu' and 'cpu'.",
    errors: ["$: send one of 'gpu' and 'cpu'"],
  },
  'scope-missing': { detail: "access denied: The API key lacks the scope 'serverless:write'." },
  'service-unavailable': { detail: 'The database does not answer at the moment; try again.' },
  'template-not-serverless': { detail: 'Template k3v9x0q2m7a1zd is not a serverless template.' },
  'unsupported-media-type': { detail: 'Send the body as application/json.' },
};

/** A problem of this kind as the management API answers it. */
export function problemExample(code: ErrorCode): object {
  const { status, title } = PROBLEMS[code];
  return {
    type: `https://api.example.com/docs/problems/${code}`,
    title,
    status,
    ...(EXAMPLES[code] ?? { detail: `${title}.` }),
    instance: 'req_q8w2e5r1t6y9ui3o4p7a0s1d',
  };
}
