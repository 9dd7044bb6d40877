import type { ErrorCode } from '@berth/domain';

export interface ProblemType {
  /** HTTP status. */
  readonly status: number;
  /** The same for every occurrence; the detail says what is particular. */
  readonly title: string;
}

/** Every way to fail a caller: one row per code here, one page per code in `docs/problems`. */
export const PROBLEMS = {
  'account-not-found': { status: 404, title: 'Account not found' },
  'api-key-not-found': { status: 404, title: 'API key not found' },
  'body-not-json': { status: 400, title: 'Body is not a JSON object' },
  'body-too-large': { status: 413, title: 'Body too large' },
  'endpoint-not-found': { status: 404, title: 'Endpoint not found' },
  'host-not-found': { status: 404, title: 'Host not found' },
  'host-not-joined': { status: 403, title: 'Host has not joined' },
  'internal-error': { status: 500, title: 'Internal error' },
  'invalid-api-key': { status: 401, title: 'API key not accepted' },
  'invalid-fields': { status: 422, title: 'Fields failed validation' },
  'invalid-job-request': { status: 400, title: 'Job request not valid' },
  'invalid-join-token': { status: 403, title: 'Join token not accepted' },
  'invalid-query': { status: 400, title: 'Query parameters not valid' },
  'job-not-found': { status: 404, title: 'Job not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'missing-api-key': { status: 401, title: 'API key missing' },
  'network-volume-not-found': { status: 404, title: 'Network volume not found' },
  'registry-not-found': { status: 404, title: 'Registry not found' },
  'route-not-found': { status: 404, title: 'No such path' },
  'rule-conflict': { status: 400, title: 'Fields contradict each other' },
  'scope-missing': { status: 403, title: 'API key may not do this' },
  'service-unavailable': { status: 503, title: 'Service unavailable' },
  'template-not-found': { status: 404, title: 'Template not found' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'worker-not-found': { status: 404, title: 'Worker not found' },
  'wrong-endpoint-type': { status: 400, title: 'Wrong endpoint type' },
} as const satisfies Record<ErrorCode, ProblemType>;
