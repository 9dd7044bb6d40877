import { WORKER_HEADER } from './affinity.js';
import { endToEnd, flatten, pairsOf, valuesOf, wordsOf, type RawHeaders } from './header-pairs.js';

export interface AnswerToForward {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly workerId: string;
  readonly requestId: string;
  /** Whether trailers can follow: the caller knows chunks, and the answer has them. */
  readonly mayHaveTrailers: boolean;
}

/** On answers that no worker has given. Lower case. */
export const OUR_ERROR_HEADER = 'x-berth-error';

const SWITCHING_PROTOCOLS = 101;

/**
 * The headers of a worker's answer as the caller gets them. Only which worker it was is our word whatever the worker says;
 * the id of the request is the worker's where it has its own.
 */
export function forwardAnswer(answer: AnswerToForward): string[] {
  const pairs = pairsOf(answer.headers);
  const kept = endToEnd(pairs).filter(
    ({ key }) =>
      key !== WORKER_HEADER &&
      key !== OUR_ERROR_HEADER &&
      (key !== 'trailer' || answer.mayHaveTrailers) &&
      // Beside chunks a length is not what the body has.
      (key !== 'content-length' || !isChunked(answer.headers)),
  );
  const isNamed = valuesOf(pairs, 'x-request-id').length > 0;
  return flatten([
    ...kept,
    ...upgradeOf(answer),
    { name: 'X-Runpod-Worker-Id', value: answer.workerId },
    ...(isNamed ? [] : [{ name: 'X-Request-Id', value: answer.requestId }]),
  ]);
}

/** Only as the answer to a wish, which no other than one for a WebSocket is let through. */
const upgradeOf = ({ status }: AnswerToForward): readonly { readonly name: string; readonly value: string }[] =>
  status === SWITCHING_PROTOCOLS
    ? [
        { name: 'Connection', value: 'Upgrade' },
        { name: 'Upgrade', value: 'websocket' },
      ]
    : [];

/** Whether the worker sends the body in chunks, behind which trailers may come. */
export const isChunked = (headers: RawHeaders): boolean =>
  wordsOf(pairsOf(headers), 'transfer-encoding').has('chunked');
