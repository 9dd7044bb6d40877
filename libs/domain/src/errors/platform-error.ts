/** Every way in which Berth refuses or fails a caller. `libs/http` has one problem row per code, `docs/problems` one page. */
export type ErrorCode =
  | 'account-not-found'
  | 'api-key-not-found'
  | 'body-not-json'
  | 'body-too-large'
  | 'endpoint-not-found'
  | 'host-not-found'
  | 'host-not-joined'
  | 'internal-error'
  | 'invalid-api-key'
  | 'invalid-fields'
  | 'invalid-job-request'
  | 'invalid-join-token'
  | 'invalid-query'
  | 'job-not-found'
  | 'method-not-allowed'
  | 'missing-api-key'
  | 'network-volume-not-found'
  | 'registry-not-found'
  | 'route-not-found'
  | 'rule-conflict'
  | 'scope-missing'
  | 'service-unavailable'
  | 'template-not-found'
  | 'unsupported-media-type'
  | 'worker-not-found'
  | 'wrong-endpoint-type';

export interface PlatformErrorOptions {
  /** What went wrong underneath; for the log only. */
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
