import { HttpException } from '@nestjs/common';
import { PlatformError, type ErrorCode } from '@berth/domain';
import { PreconditionFailed } from '../conditional/version-tag.js';
import { PROBLEMS } from './problem-types.js';

/** One failed request, before it is rendered for its kind of client. */
export interface Problem {
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly string[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Methods that the path does answer; empty but for `method-not-allowed`. */
  readonly allow: readonly string[];
  /** Present entity tag of a resource that has changed. */
  readonly tag: string | undefined;
}

/** The time that a busy caller should wait when nobody knows better. */
const RETRY_AFTER_DEFAULT_SECONDS = 2;

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'body-not-json',
  // The status of served files for paths that lead out of their folder. Our own refusals are platform errors.
  403: 'route-not-found',
  404: 'route-not-found',
  // Served files alone, too.
  412: 'precondition-failed',
  413: 'body-too-large',
  414: 'route-not-found',
  415: 'unsupported-media-type',
  416: 'invalid-header',
  431: 'headers-too-large',
};

const DETAIL_OF_CODE: Partial<Record<ErrorCode, string>> = {
  'body-not-json': 'The body could not be read as JSON.',
  'body-too-large': 'The body is larger than this path accepts.',
  'route-not-found': 'There is nothing at this path.',
  'unsupported-media-type': 'Send the body as application/json.',
};

/**
 * Anything that was thrown, as a problem. An error that was not made to be shown becomes `internal-error` without its
 * text.
 */
export function toProblem(thrown: unknown, allow: readonly string[] = []): Problem {
  if (thrown instanceof PlatformError) return fromPlatformError(thrown);
  const code = thrown instanceof HttpException ? codeOf(thrown.getStatus()) : undefined;
  if (code === undefined)
    return make('internal-error', 'Something failed on our side. The request id names it in the log.');
  if (code === 'route-not-found' && allow.length > 0) {
    return { ...make('method-not-allowed', `This path answers ${allow.join(', ')}.`), allow };
  }
  return make(code, DETAIL_OF_CODE[code] ?? PROBLEMS[code].title);
}

/**
 * Every fault that the framework finds with a request is the request's, also where we have no word of our own for it.
 */
const codeOf = (status: number): ErrorCode | undefined =>
  CODE_OF_STATUS[status] ?? (status < 500 ? 'malformed-request' : undefined);

function fromPlatformError(error: PlatformError): Problem {
  const problem = make(error.code, error.message);
  const retryAfterSeconds =
    error.retryAfterSeconds ?? (problem.status === 503 ? RETRY_AFTER_DEFAULT_SECONDS : undefined);
  const tag = error instanceof PreconditionFailed ? error.tag : undefined;
  return { ...problem, errors: error.errors, retryAfterSeconds, tag };
}

const make = (code: ErrorCode, detail: string): Problem => ({
  code,
  ...PROBLEMS[code],
  detail,
  errors: undefined,
  retryAfterSeconds: undefined,
  allow: [],
  tag: undefined,
});
