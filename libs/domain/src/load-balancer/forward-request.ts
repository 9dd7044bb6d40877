import { WORKER_HEADER } from './affinity.js';
import { endToEnd, flatten, pairsOf, valuesOf, wordsOf, type HeaderPair, type RawHeaders } from './header-pairs.js';

/** Carries the worker's own `Authorization`, since that of the request is for us. Lower case. */
const WORKER_AUTHORIZATION_HEADER = 'x-worker-authorization';

export interface RequestToForward {
  readonly method: string;
  readonly headers: RawHeaders;
  /** Whether a body follows: a length above none, or chunks. */
  readonly framing: 'none' | 'length' | 'chunked';
  /** It wants to become a WebSocket. */
  readonly isUpgrade: boolean;
  /** The address that it came from; and whether that is a proxy whose word on others counts. */
  readonly peer: { readonly address: string; readonly isTrusted: boolean };
  readonly requestId: string;
  readonly traceparent: string;
  /** `Authorization` holds the key of our caller, which is no worker's business. */
  readonly hidesAuthorization: boolean;
}

/** What we say ourselves, so that nobody else's word for it reaches a worker. */
const OURS = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-request-id',
  'traceparent',
  WORKER_AUTHORIZATION_HEADER,
  WORKER_HEADER,
]);

/** Programs that read headers from variables take `_` and `-` for one (RFC 3875, 4.1.18), so neither spelling is anybody's. */
export const isOurs = (key: HeaderPair['key']): boolean => OURS.has(key.replaceAll('_', '-'));

/** Methods whose requests have a body only where they say so (RFC 9110, 8.6). */
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

/** The headers of a request as a worker gets them: its caller's in their order and spelling, without what was for us. */
export function forwardRequest(request: RequestToForward): string[] {
  const pairs = pairsOf(request.headers);
  const kept = endToEnd(pairs).filter((pair) => goesOn(pair, request, pairs));
  return flatten([...kept, ...framingOf(request), ...connectionOf(request, pairs), ...wordsOnTheWay(request, pairs)]);
}

function goesOn({ key }: HeaderPair, request: RequestToForward, pairs: readonly HeaderPair[]): boolean {
  if (isOurs(key)) return false;
  if (key === 'content-length' || key === 'trailer') return isFramedBy(key, request.framing);
  const isHidden = request.hidesAuthorization || valuesOf(pairs, WORKER_AUTHORIZATION_HEADER).length > 0;
  return key !== 'authorization' || !isHidden;
}

/** A field for trailers without chunks, or a length beside chunks, would be a lie. */
const isFramedBy = (key: 'content-length' | 'trailer', framing: RequestToForward['framing']): boolean =>
  key === 'trailer' ? framing === 'chunked' : framing === 'length';

function framingOf({ framing, isUpgrade, method }: RequestToForward): readonly Pick<HeaderPair, 'name' | 'value'>[] {
  if (framing === 'chunked') return [{ name: 'Transfer-Encoding', value: 'chunked' }];
  if (framing === 'length' || isUpgrade || WITHOUT_BODY.has(method)) return [];
  return [{ name: 'Content-Length', value: '0' }];
}

/** One connection for each request: it closes behind it, or becomes the WebSocket. */
function connectionOf(
  { isUpgrade }: RequestToForward,
  pairs: readonly HeaderPair[],
): readonly Pick<HeaderPair, 'name' | 'value'>[] {
  if (isUpgrade) {
    return [
      { name: 'Connection', value: 'Upgrade' },
      { name: 'Upgrade', value: 'websocket' },
    ];
  }
  if (!wordsOf(pairs, 'te').has('trailers')) return [{ name: 'Connection', value: 'close' }];
  return [
    { name: 'TE', value: 'trailers' },
    { name: 'Connection', value: 'close, TE' },
  ];
}

function wordsOnTheWay(
  { peer, requestId, traceparent }: RequestToForward,
  pairs: readonly HeaderPair[],
): readonly Pick<HeaderPair, 'name' | 'value'>[] {
  const before = (key: string): readonly string[] => (peer.isTrusted ? valuesOf(pairs, key) : []);
  const host = valuesOf(pairs, 'host')[0] ?? '';
  const proto = before('x-forwarded-proto')[0] ?? 'http';
  const heardHost = before('x-forwarded-host')[0] ?? host;
  const forwarded = `for=${quoted(forwardedNode(peer.address))};host=${quoted(host)};proto=${quoted(proto)}`;
  return [
    { name: 'X-Forwarded-For', value: [...before('x-forwarded-for'), peer.address].join(', ') },
    { name: 'X-Forwarded-Host', value: heardHost },
    { name: 'X-Forwarded-Proto', value: proto },
    { name: 'Forwarded', value: [...before('forwarded'), forwarded].join(', ') },
    { name: 'X-Request-Id', value: requestId },
    { name: 'traceparent', value: traceparent },
    ...valuesOf(pairs, WORKER_AUTHORIZATION_HEADER)
      .slice(0, 1)
      .map((value) => ({ name: 'Authorization', value })),
  ];
}

/** RFC 7239, 6: an IPv6 address stands in brackets. */
const forwardedNode = (address: string): string => (address.includes(':') ? `[${address}]` : address);

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const quoted = (value: string): string =>
  TOKEN.test(value) ? value : `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
