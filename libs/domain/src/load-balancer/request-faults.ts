import { pairsOf, valuesOf, type HeaderPair, type RawHeaders } from './header-pairs.js';

/** More headers than any client or worker sends; Node leaves some out silently from twice as many. */
export const HEADERS_MAX = 500;

const ORIGIN_FORM = /^(?:\/|\*$)/;

export interface RequestFault {
  readonly code: 'malformed-request' | 'headers-too-large';
  readonly detail: string;
}

export interface RequestHead {
  readonly url: string;
  readonly headers: RawHeaders;
  readonly httpVersion: string;
}

/** What is wrong with the head of a request, where two readers of it might take it for two things; null: nothing. */
export function faultOfHead({ headers, httpVersion, url }: RequestHead): RequestFault | null {
  const pairs = pairsOf(headers);
  if (pairs.length > HEADERS_MAX) return { code: 'headers-too-large', detail: 'There are too many headers.' };
  if (valuesOf(pairs, 'host').length !== 1) return malformed('There is not exactly one Host header.');
  if (!ORIGIN_FORM.test(url)) return malformed('The request target is no path.');
  if (valuesOf(pairs, 'content-length').length > 1) return malformed('There are several lengths.');
  return faultOfVersion(httpVersion, pairs);
}

/** HTTP/1.0 has no codings, so that what stands before us may have taken such a body for the next request (RFC 9112, 6.1). */
function faultOfVersion(httpVersion: string, pairs: readonly HeaderPair[]): RequestFault | null {
  const codings = valuesOf(pairs, 'transfer-encoding');
  switch (httpVersion) {
    case '1.1':
      return isChunkedAtMost(codings) ? null : malformed('The only transfer coding is chunked, and once.');
    case '1.0':
      return codings.length === 0 ? null : malformed('HTTP/1.0 has no transfer codings.');
    default:
      return malformed('The version is neither HTTP/1.1 nor HTTP/1.0.');
  }
}

/** Whether a body is in chunks, or as it is: each other coding would have to be undone. */
export const isChunkedAtMost = (codings: readonly string[]): boolean =>
  codings.length <= 1 && codings.every((coding) => coding.trim().toLowerCase() === 'chunked');

const malformed = (detail: string): RequestFault => ({ code: 'malformed-request', detail });

/** Bytes that the head of a request takes, about. */
export const bytesOfHead = (url: string, headers: RawHeaders): number =>
  headers.reduce((sum, text) => sum + text.length + 2, url.length);

/** Whether a request only looks whether a worker is well, by its path, whatever its query says: HEAD is GET without a body. */
export const isHealthCheck = (
  { method, url }: { readonly method: string; readonly url: string },
  healthCheckPath: string,
): boolean => (method === 'GET' || method === 'HEAD') && url.split('?')[0] === healthCheckPath;

/** Whether a browser asks whether another origin may call. */
export function isPreflight(method: string, headers: RawHeaders): boolean {
  const pairs = pairsOf(headers);
  const has = (key: string): boolean => valuesOf(pairs, key).length > 0;
  return method === 'OPTIONS' && has('origin') && has('access-control-request-method');
}
