/**
 * The key of an invitation is what either side knows the other by, so there is no certificate. TLS 1.3 with such a key still
 * exchanges ephemeral ones: who records a tunnel and learns its key later reads nothing. Of its ciphers the one that
 * processors have instructions for.
 */
export const TUNNEL_TLS = {
  ciphers: 'TLS_AES_128_GCM_SHA256',
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  // What is spoken inside. Another version of it fails here, and not in the middle of a request.
  ALPNProtocols: ['berth-tunnel/2'],
} as const;
