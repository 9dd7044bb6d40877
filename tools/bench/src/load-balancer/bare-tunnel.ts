/** As the tunnel of a host, with a key that everybody knows. */
export const BARE_TLS = {
  ciphers: 'TLS_AES_128_GCM_SHA256',
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  ALPNProtocols: ['bare-tunnel'],
  pskCallback: () => ({ psk: Buffer.alloc(32, 1), identity: 'bench' }),
} as const;

/** As those of a host's tunnel. */
export const BARE_WINDOWS = { initialWindowSize: 256 * 1_024, maxConcurrentStreams: 32_768 } as const;
/** Each request ends with a reset, which Node takes for an attack where there are many. */
export const BARE_LIMITS = {
  maxSessionMemory: 4_096,
  maxSessionInvalidFrames: 2 ** 31 - 1,
  maxSessionRejectedStreams: 2 ** 31 - 1,
  streamResetBurst: 2 ** 31 - 1,
  streamResetRate: 2 ** 31 - 1,
  peerMaxConcurrentStreams: 32_768,
} as const;
export const BARE_SESSION_WINDOW_BYTES = 16 * 1_024 * 1_024;
