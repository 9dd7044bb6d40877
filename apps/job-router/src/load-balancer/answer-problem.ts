import { STATUS_CODES } from 'node:http';
import { OUR_ERROR_HEADER, PlatformError, type ErrorCode } from '@berth/domain';
import { toProblem } from '@berth/http';
import type { Visit } from './visit.js';

/** Bodies that are read and thrown away, so that their connection can be kept. */
const SMALL_BODY_BYTES = 64 * 1_024;

/** The words that clients of the interface look for in `error` (wire contract 4); of all else it is the detail. */
const PUBLISHED: Partial<Record<ErrorCode, string>> = {
  'affinity-worker-gone': 'affinity_worker_gone',
  'affinity-worker-timeout': 'worker_timeout',
};

export interface ProblemAnswerOptions {
  /** Problem pages are at `{docsUrl}/problems/<code>`. */
  readonly docsUrl: string;
  /** The worker that had the request. Absent: none. */
  readonly workerId?: string;
}

/**
 * Answers with a problem of ours, marked as such. Only before anything else was answered.
 *
 * @returns its code
 */
export function answerProblem(
  { request, requestId, response }: Visit,
  thrown: unknown,
  { docsUrl, workerId }: ProblemAnswerOptions,
): ErrorCode {
  const { code, detail, retryAfterSeconds, status, title } = toProblem(thrown);
  const error = PUBLISHED[code] ?? detail;
  const type = `${docsUrl}/problems/${code}`;
  const body = JSON.stringify({ type, title, detail, error, instance: requestId });
  if (!isSmall(request)) response.shouldKeepAlive = false;
  // Said outright, for words of a worker that could not be written would be kept otherwise.
  response.writeHead(status, STATUS_CODES[status] ?? '', {
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    [OUR_ERROR_HEADER]: code,
    ...(workerId === undefined ? {} : { 'X-Runpod-Worker-Id': workerId }),
    ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
    ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
  });
  response.end(body);
  return code;
}

/** Whether what may still come of the body is worth being read. A caller that asks before it sends would have to be told to. */
const isSmall = ({ complete, headers }: Visit['request']): boolean =>
  complete ||
  (headers.expect === undefined &&
    headers['transfer-encoding'] === undefined &&
    Number(headers['content-length'] ?? 0) <= SMALL_BODY_BYTES);

export const tooLarge = (bytesMax: number): PlatformError =>
  new PlatformError('body-too-large', `The body is larger than the ${bytesMax} bytes that this address takes.`);
