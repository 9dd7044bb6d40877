/**
 * The key of an invitation is what either side knows the other by, so there is no certificate. ECDHE: who records a tunnel
 * and learns its key later reads nothing. Node has these suites for TLS 1.2 alone.
 */
export const TUNNEL_TLS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
  // What is spoken inside. Another version of it fails here, and not in the middle of a request.
  ALPNProtocols: ['berth-tunnel/2'],
} as const;
