import { isOurWord } from './forward-answer.js';
import { isNoCallers } from './forward-request.js';
import { endToEnd, flatten, pairsOf, type RawHeaders } from './header-pairs.js';

/** Fields that are of no use, or do harm, once the head has been acted on (RFC 9110, 6.5.1): some readers merge the two. */
const ONLY_IN_HEADS = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'host',
  'set-cookie',
  'trailer',
]);

/** What came behind a body, of a request or of an answer, as it goes on: nothing that only a head may say, or only we. */
export const forwardTrailers = (trailers: RawHeaders): string[] =>
  flatten(
    endToEnd(pairsOf(trailers)).filter(({ key }) => !ONLY_IN_HEADS.has(key) && !isNoCallers(key) && !isOurWord(key)),
  );
