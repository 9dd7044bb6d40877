import { WORKER_HEADER } from './affinity.js';
import { endToEnd, flatten, pairsOf, valuesOf, wordsOf, type HeaderPair, type RawHeaders } from './header-pairs.js';
import { soundTraceparent, traceIdOf } from './request-names.js';

/** Carries the worker's own `Authorization`, since that of the request is for us. Lower case. */
const WORKER_AUTHORIZATION_HEADER = 'x-worker-authorization';

/** Where a request came from. */
export interface ForwardedPeer {
  /** Of the connection. */
  readonly address: string;
  /** It is a proxy whose word on others counts. */
  readonly isTrusted: boolean;
  /** Of who asked: that of the connection, or what trusted proxies say of it. */
  readonly callerAddress: string;
}

export interface RequestToForward {
  readonly method: string;
  readonly headers: RawHeaders;
  /** Whether a body follows: a length above none, or chunks. */
  readonly framing: 'none' | 'length' | 'chunked';
  /** It wants to become a WebSocket. */
  readonly isUpgrade: boolean;
  readonly peer: ForwardedPeer;
  readonly requestId: string;
  /** `Authorization` holds the key of our caller, which is no worker's business. */
  readonly hidesAuthorization: boolean;
  /** The recorded step of ours that the request is for its worker; null: none, and its caller's own trace goes on. */
  readonly traceparent: string | null;
}

/** What we say ourselves, so that nobody else's word for it reaches a worker. */
const OURS = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
  'x-request-id',
  WORKER_AUTHORIZATION_HEADER,
  WORKER_HEADER,
]);

/** What programs take for the word of a proxy on who asked. */
const WORDS_OF_PROXIES = new Set([
  'cf-connecting-ip',
  'fastly-client-ip',
  'true-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
]);
const isOfProxies = (key: string): boolean => key.startsWith('x-forwarded-') || WORDS_OF_PROXIES.has(key);

/** Where their caller wrote them soundly. */
const OF_TRACES = new Set(['traceparent', 'tracestate']);

/** Where headers become variables this is `HTTP_PROXY`, through which programs would then send their own requests. */
const NEVER = 'proxy';

/** Say where a body ends, and are read as themselves in their own spelling alone. */
const OF_FRAMING = new Set(['content-length', 'transfer-encoding']);

/**
 * What no caller says by itself. Programs that read headers from variables take `_` and `-` for one (RFC 3875, 4.1.18), so
 * neither spelling is anybody's.
 */
export function isNoCallers(key: HeaderPair['key']): boolean {
  const folded = key.replaceAll('_', '-');
  const isDisguised = folded !== key && OF_FRAMING.has(folded);
  return isDisguised || OURS.has(folded) || isOfProxies(folded) || OF_TRACES.has(folded) || folded === NEVER;
}

/** Methods whose requests have a body only where they say so (RFC 9110, 8.6). */
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

/** The headers of a request as a worker gets them: its caller's in their order and spelling, without what was for us. */
export function forwardRequest(request: RequestToForward): string[] {
  const pairs = pairsOf(request.headers);
  const isHidden = request.hidesAuthorization || valuesOf(pairs, WORKER_AUTHORIZATION_HEADER).length > 0;
  const kept = endToEnd(pairs).filter(({ key }) => goesOn(key, request, isHidden));
  return flatten([...kept, ...framingOf(request), ...connectionOf(request, pairs), ...wordsOnTheWay(request, pairs)]);
}

function goesOn(key: HeaderPair['key'], request: RequestToForward, isHidden: boolean): boolean {
  if (OF_TRACES.has(key)) return isOfTrace(key, request);
  if (isNoCallers(key)) return request.peer.isTrusted && isOfProxies(key) && !OURS.has(key);
  if (key === 'content-length' || key === 'trailer') return isFramedBy(key, request.framing);
  return key !== 'authorization' || !isHidden;
}

/** What other systems say of a trace goes with that trace alone. */
function isOfTrace(key: string, { headers, traceparent }: RequestToForward): boolean {
  const told = soundTraceparent(headers);
  if (told === null || traceparent === null) return told !== null;
  return key === 'tracestate' && traceIdOf(told) === traceIdOf(traceparent);
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
  const port = before('x-forwarded-port')[0] ?? portOf(heardHost, proto);
  const forwarded = `for=${quoted(forwardedNode(peer.address))};host=${quoted(host)};proto=${quoted(proto)}`;
  return [
    { name: 'X-Forwarded-For', value: [...before('x-forwarded-for'), peer.address].join(', ') },
    { name: 'X-Forwarded-Host', value: heardHost },
    { name: 'X-Forwarded-Port', value: port },
    { name: 'X-Forwarded-Proto', value: proto },
    { name: 'Forwarded', value: [...before('forwarded'), forwarded].join(', ') },
    { name: 'X-Real-Ip', value: peer.callerAddress },
    { name: 'X-Request-Id', value: requestId },
    ...(traceparent === null ? [] : [{ name: 'traceparent', value: traceparent }]),
    ...valuesOf(pairs, WORKER_AUTHORIZATION_HEADER)
      .slice(0, 1)
      .map((value) => ({ name: 'Authorization', value })),
  ];
}

/** The one that the caller named, or that its scheme has. */
const portOf = (host: string, proto: string): string =>
  /:(\d{1,5})$/.exec(host)?.[1] ?? (proto.toLowerCase() === 'https' ? '443' : '80');

/** RFC 7239, 6: an IPv6 address stands in brackets. */
const forwardedNode = (address: string): string => (address.includes(':') ? `[${address}]` : address);

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const quoted = (value: string): string =>
  TOKEN.test(value) ? value : `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
