/** The tunnel under a request that had been admitted is gone: what the worker has done by then is not known. */
export class TunnelError extends Error {
  override readonly name = 'TunnelError';
}
