import type { TLSSocket } from 'node:tls';

const WITH_TRACES = 'berth-tunnel/3';

/**
 * The key of an invitation is what either side knows the other by, so there is no certificate. TLS 1.3 with such a key still
 * exchanges ephemeral ones: who records a tunnel and learns its key later reads nothing. Of its ciphers the one that
 * processors have instructions for.
 */
export const TUNNEL_TLS = {
  ciphers: 'TLS_AES_128_GCM_SHA256',
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  // What is spoken inside, the router's first choice first. Another version of it fails here, and not in the middle of a request.
  ALPNProtocols: [WITH_TRACES, 'berth-tunnel/2'],
} as const;

/** Whether the other side of a tunnel that stands knows the frame TRACE, which is what version 3 has beyond version 2. */
export const knowsTraces = ({ alpnProtocol }: TLSSocket): boolean => alpnProtocol === WITH_TRACES;
