import { pairsOf, valuesOf, type RawHeaders } from './header-pairs.js';

/** More headers than any client sends; servers begin to leave some out silently at twice as many. */
const HEADERS_MAX = 500;

const ORIGIN_FORM = /^(?:\/|\*$)/;

export interface RequestFault {
  readonly code: 'malformed-request' | 'headers-too-large';
  readonly detail: string;
}

/** What is wrong with the head of a request, where two readers of it might take it for two things; null: nothing. */
export function faultOfHead(url: string, headers: RawHeaders): RequestFault | null {
  const pairs = pairsOf(headers);
  if (pairs.length > HEADERS_MAX) return { code: 'headers-too-large', detail: 'There are too many headers.' };
  if (valuesOf(pairs, 'host').length !== 1) return malformed('There is not exactly one Host header.');
  if (!ORIGIN_FORM.test(url)) return malformed('The request target is no path.');
  const codings = valuesOf(pairs, 'transfer-encoding').map((value) => value.trim().toLowerCase());
  if (codings.some((coding) => coding !== 'chunked')) return malformed('The only transfer coding is chunked.');
  return valuesOf(pairs, 'content-length').length > 1 ? malformed('There are several lengths.') : null;
}

const malformed = (detail: string): RequestFault => ({ code: 'malformed-request', detail });

/** Bytes that the head of a request takes, about. */
export const bytesOfHead = (url: string, headers: RawHeaders): number =>
  headers.reduce((sum, text) => sum + text.length + 2, url.length);

/** Whether a path is that of the health checks, whatever its query says. */
export const isHealthPath = (url: string, healthCheckPath: string): boolean => url.split('?')[0] === healthCheckPath;

/** Whether a browser asks whether another origin may call. */
export function isPreflight(method: string, headers: RawHeaders): boolean {
  const pairs = pairsOf(headers);
  const has = (key: string): boolean => valuesOf(pairs, key).length > 0;
  return method === 'OPTIONS' && has('origin') && has('access-control-request-method');
}
