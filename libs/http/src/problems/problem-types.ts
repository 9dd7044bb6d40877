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
  'cluster-not-found': { status: 404, title: 'Cluster not found' },
  'cpu-flavor-not-found': { status: 404, title: 'CPU flavor not found' },
  'data-center-not-found': { status: 404, title: 'Data center not found' },
  'endpoint-not-found': { status: 404, title: 'Endpoint not found' },
  'gpu-type-not-found': { status: 404, title: 'GPU type not found' },
  'headers-too-large': { status: 431, title: 'Request headers too large' },
  'host-not-found': { status: 404, title: 'Host not found' },
  'host-not-joined': { status: 403, title: 'Host has not joined' },
  'idempotency-in-progress': { status: 409, title: 'First request with this idempotency key is not over' },
  'idempotency-key-reused': { status: 409, title: 'Idempotency key used for another request' },
  'internal-error': { status: 500, title: 'Internal error' },
  'invalid-api-key': { status: 401, title: 'API key not accepted' },
  'invalid-fields': { status: 422, title: 'Fields failed validation' },
  'invalid-header': { status: 400, title: 'Request header not valid' },
  'invalid-job-request': { status: 400, title: 'Job request not valid' },
  'invalid-join-token': { status: 403, title: 'Join token not accepted' },
  'invalid-query': { status: 400, title: 'Query parameters not valid' },
  'job-not-found': { status: 404, title: 'Job not found' },
  'job-not-retriable': { status: 409, title: 'Job cannot be retried' },
  'join-token-expired': { status: 403, title: 'Join token out of date' },
  'join-token-used': { status: 403, title: 'Join token used up' },
  'limit-reached': { status: 429, title: 'Limit of the account reached' },
  'malformed-request': { status: 400, title: 'Not a readable HTTP request' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'missing-api-key': { status: 401, title: 'API key missing' },
  'network-volume-in-use': { status: 400, title: 'Network volume in use' },
  'network-volume-not-found': { status: 404, title: 'Network volume not found' },
  'pod-not-found': { status: 404, title: 'Pod not found' },
  'precondition-failed': { status: 412, title: 'Resource has changed' },
  'rate-limited': { status: 429, title: 'Rate limit exceeded' },
  'registry-in-use': { status: 400, title: 'Registry in use' },
  'registry-not-found': { status: 404, title: 'Registry not found' },
  'request-timeout': { status: 408, title: 'Request did not arrive in time' },
  'route-not-found': { status: 404, title: 'No such path' },
  'rule-conflict': { status: 400, title: 'Fields contradict each other' },
  'scope-missing': { status: 403, title: 'API key may not do this' },
  'service-unavailable': { status: 503, title: 'Service unavailable' },
  'template-not-found': { status: 404, title: 'Template not found' },
  'template-not-serverless': { status: 422, title: 'Template is not serverless' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'worker-not-found': { status: 404, title: 'Worker not found' },
  'wrong-endpoint-type': { status: 400, title: 'Wrong endpoint type' },
} as const satisfies Record<ErrorCode, ProblemType>;
