import { WORKER_HEADER } from './affinity.js';
import { endToEnd, flatten, pairsOf, valuesOf, wordsOf, type HeaderPair, type RawHeaders } from './header-pairs.js';
import { HEADERS_MAX, isChunkedAtMost } from './request-faults.js';

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
const NO_CONTENT = 204;

/**
 * `unwanted-switch`: to a protocol that nobody asked for. `too-many-headers`: some may have been left out unseen.
 * `unknown-coding`: the body is packed in a way whose name does not go on.
 */
type AnswerFault = 'unwanted-switch' | 'too-many-headers' | 'unknown-coding';

/** Why a worker's answer cannot be passed on as what it is; null: it can. */
export function faultOfAnswer(
  { headers, status }: Pick<AnswerToForward, 'headers' | 'status'>,
  isUpgrade: boolean,
): AnswerFault | null {
  const pairs = pairsOf(headers);
  if (pairs.length > HEADERS_MAX) return 'too-many-headers';
  if (!isChunkedAtMost(valuesOf(pairs, 'transfer-encoding'))) return 'unknown-coding';
  const hasSwitched = status === SWITCHING_PROTOCOLS;
  return hasSwitched && !(isUpgrade && wordsOf(pairs, 'upgrade').has('websocket')) ? 'unwanted-switch' : null;
}

/**
 * The headers of a worker's answer as the caller gets them. Only which worker it was is our word whatever the worker says;
 * the id of the request is the worker's where it has its own.
 */
export function forwardAnswer(answer: AnswerToForward): string[] {
  const pairs = pairsOf(answer.headers);
  const kept = endToEnd(pairs).filter(
    ({ key }) =>
      !isOurWord(key) &&
      (key !== 'trailer' || answer.mayHaveTrailers) &&
      (key !== 'content-length' || hasLength(answer)),
  );
  const isNamed = valuesOf(pairs, 'x-request-id').length > 0;
  return flatten([
    ...kept,
    ...upgradeOf(answer),
    { name: 'X-Runpod-Worker-Id', value: answer.workerId },
    ...(isNamed ? [] : [{ name: 'X-Request-Id', value: answer.requestId }]),
  ]);
}

/** The headers of what a worker says before its answer. Such a word has no body. */
export const forwardInformation = (headers: RawHeaders): string[] =>
  flatten(
    endToEnd(pairsOf(headers)).filter(({ key }) => !isOurWord(key) && key !== 'content-length' && key !== 'trailer'),
  );

/** What nobody but us says to a caller. */
export const isOurWord = (key: HeaderPair['key']): boolean => key === WORKER_HEADER || key === OUR_ERROR_HEADER;

/** Beside chunks a length is not what the body has; and what cannot have a body may not have one (RFC 9110, 8.6). */
const hasLength = ({ headers, status }: AnswerToForward): boolean =>
  !isChunked(headers) && status !== SWITCHING_PROTOCOLS && status !== NO_CONTENT;

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
