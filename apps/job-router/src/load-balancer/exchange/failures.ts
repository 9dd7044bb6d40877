import type { ErrorCode } from '@berth/domain';

/** What becomes of a request with a worker, in words for its caller. */
export const FAILURES = {
  'request-timeout': 'The body of the request did not go on to arrive.',
  'worker-answer-timeout': 'The worker has not begun to answer in time.',
  'worker-idle-timeout': 'The worker neither took nor sent anything for too long.',
  'worker-total-timeout': 'The request took longer than the timeout of the endpoint.',
  'worker-connection-lost': 'The connection to the worker was lost; what it has done by then is not known.',
  'worker-answer-invalid': 'The answer of the worker is no HTTP/1.1.',
} as const satisfies Partial<Record<ErrorCode, string>>;

export type ExchangeFailure = keyof typeof FAILURES;
