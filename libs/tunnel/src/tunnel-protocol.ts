import type { IncomingHttpHeaders, IncomingHttpStatusHeader, OutgoingHttpHeaders } from 'node:http2';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { LINK_REFUSALS, type LinkRefusal, type LinkTarget } from './worker-link.port.js';

/**
 * The key of an invitation is what either side knows the other by, so there is no certificate. ECDHE: who records a tunnel
 * and learns its key later reads nothing. Node has these suites for TLS 1.2 alone.
 */
export const TUNNEL_TLS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
  // Named, so that Node does not take it for HTTP/1.1 on the side that serves.
  ALPNProtocols: ['berth-tunnel'],
} as const;

/** Of one request and each direction: what is on its way and not yet read. */
const STREAM_WINDOW_BYTES = 256 * 1_024;
/** Requests in one tunnel. A router begins no more, each endpoint having its share of them. */
export const STREAMS_MAX = 32_768;

/**
 * Node counts resets, and frames that cross one, as an attack, and ends the session. Here each request that ends early is
 * one, and the peer has shown whose it is.
 */
const UNLIMITED = 2 ** 31 - 1;
const SESSION_MEMORY_MB = 4_096;
export const SESSION_OPTIONS = {
  maxSessionMemory: SESSION_MEMORY_MB,
  maxSessionInvalidFrames: UNLIMITED,
  maxSessionRejectedStreams: UNLIMITED,
  streamResetBurst: UNLIMITED,
  streamResetRate: UNLIMITED,
  peerMaxConcurrentStreams: STREAMS_MAX,
  settings: { initialWindowSize: STREAM_WINDOW_BYTES, maxConcurrentStreams: STREAMS_MAX, enablePush: false },
};
/** Of all requests in one tunnel. Node takes from it at once what has arrived, so none holds up the others. */
export const SESSION_WINDOW_BYTES = 16 * 1_024 * 1_024;

const ENDPOINT_HEADER = 'berth-endpoint';
const MAY_WAIT_HEADER = 'berth-may-wait';
const REFUSAL_HEADER = 'berth-refusal';
const ADMITTED = 200;
const REFUSED = 503;

/** The head of a request in the tunnel: a CONNECT to the worker. */
export const headOf = ({ endpointId, workerId }: LinkTarget, mayWait: boolean): OutgoingHttpHeaders => ({
  ':method': 'CONNECT',
  ':authority': workerId,
  [ENDPOINT_HEADER]: endpointId,
  ...(mayWait ? { [MAY_WAIT_HEADER]: '1' } : {}),
});

/** Null: it is none that `headOf` wrote. */
export function readHead(headers: IncomingHttpHeaders, hostId: HostId): LinkTarget | null {
  const { ':method': method, ':authority': workerId } = headers;
  const endpointId = headers[ENDPOINT_HEADER];
  if (method !== 'CONNECT' || workerId === undefined || typeof endpointId !== 'string') return null;
  return { hostId, endpointId: endpointId as EndpointId, workerId: workerId as WorkerId };
}

/** Whether the question may wait in line. */
export const readMayWait = (headers: IncomingHttpHeaders): boolean => headers[MAY_WAIT_HEADER] === '1';

export const admission = (): OutgoingHttpHeaders => ({ ':status': ADMITTED });
export const refusal = (reason: LinkRefusal): OutgoingHttpHeaders => ({
  ':status': REFUSED,
  [REFUSAL_HEADER]: reason,
});

/** Null: it is admitted. A refusal for a reason that this version does not know counts as no way. */
export function readAdmission(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): LinkRefusal | null {
  if (headers[':status'] === ADMITTED) return null;
  return LINK_REFUSALS.find((reason) => reason === headers[REFUSAL_HEADER]) ?? 'no-way';
}
