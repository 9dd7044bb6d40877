/** Every way in which Berth refuses or fails a caller. `libs/http` has one problem row per code, `docs/problems` one page. */
export type ErrorCode =
  | 'account-not-found'
  | 'affinity-worker-gone'
  | 'affinity-worker-timeout'
  | 'api-key-not-found'
  | 'body-not-json'
  | 'body-too-large'
  | 'cluster-not-found'
  | 'cpu-flavor-not-found'
  | 'data-center-not-found'
  | 'endpoint-not-found'
  | 'gpu-type-not-found'
  | 'headers-too-large'
  | 'host-not-found'
  | 'host-not-joined'
  | 'idempotency-in-progress'
  | 'idempotency-key-reused'
  | 'internal-error'
  | 'invalid-api-key'
  | 'invalid-fields'
  | 'invalid-header'
  | 'invalid-job-request'
  | 'invalid-join-token'
  | 'invalid-query'
  | 'job-not-found'
  | 'job-not-retriable'
  | 'join-token-expired'
  | 'join-token-used'
  | 'limit-reached'
  | 'malformed-request'
  | 'method-not-allowed'
  | 'missing-api-key'
  | 'network-volume-in-use'
  | 'network-volume-not-found'
  | 'no-worker-available'
  | 'pod-not-found'
  | 'precondition-failed'
  | 'rate-limited'
  | 'registry-in-use'
  | 'registry-not-found'
  | 'request-timeout'
  | 'route-not-found'
  | 'rule-conflict'
  | 'scope-missing'
  | 'service-unavailable'
  | 'template-not-found'
  | 'template-not-serverless'
  | 'too-many-held-requests'
  | 'unsupported-media-type'
  | 'worker-answer-invalid'
  | 'worker-answer-timeout'
  | 'worker-connect-timeout'
  | 'worker-connection-lost'
  | 'worker-idle-timeout'
  | 'worker-not-found'
  | 'worker-total-timeout'
  | 'wrong-endpoint-type';

export interface PlatformErrorOptions {
  /** The error underneath; for the log only. */
  readonly cause?: unknown;
  /** Each single failure as `$.path: reason`. */
  readonly errors?: readonly string[];
  /** Seconds after which a new try makes sense. */
  readonly retryAfterSeconds?: number;
}

/** An error with a code from the table. `message` is the public detail: it may be shown to the caller as it is. */
export class PlatformError extends Error {
  readonly code: ErrorCode;
  readonly errors: readonly string[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, detail: string, options: PlatformErrorOptions = {}) {
    super(detail, { cause: options.cause });
    this.name = 'PlatformError';
    this.code = code;
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
