import { connect, type Socket } from 'node:net';
import type { Clock } from '@berth/lifecycle';
import { dialOptions } from './dial-address.js';

interface WorkerAddress {
  readonly host: string;
  readonly port: number;
}

/** On this machine: a worker that does not take a connection by then is not going to answer soon either. */
const CONNECT_MAX_MS = 2_000;
/** A container whose network is gone closes nothing. */
const KEEP_ALIVE_MS = 30_000;

/** `given-up`: the signal was aborted. `words` are for people. */
type ConnectOutcome =
  | { readonly kind: 'connected'; readonly socket: Socket }
  | { readonly kind: 'given-up' }
  | { readonly kind: 'failed'; readonly words: string };

/**
 * Half-close goes both ways. An error of the socket after this is its user's to hear of; where nobody listens it only
 * closes the socket.
 */
export function connectWorker(
  { host, port }: WorkerAddress,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ConnectOutcome> {
  if (signal.aborted) return Promise.resolve({ kind: 'given-up' });
  return new Promise((resolve) => {
    const socket = connect({
      ...dialOptions(host),
      port,
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    });
    const settle = (outcome: ConnectOutcome): void => {
      cancel();
      signal.removeEventListener('abort', giveUp);
      if (outcome.kind !== 'connected') socket.destroy();
      resolve(outcome);
    };
    const giveUp = (): void => {
      settle({ kind: 'given-up' });
    };
    const cancel = clock.after(CONNECT_MAX_MS, () => {
      settle({ kind: 'failed', words: `took no connection on port ${port} within ${CONNECT_MAX_MS / 1000} s` });
    });
    signal.addEventListener('abort', giveUp);
    socket.on('error', (error: NodeJS.ErrnoException) => {
      settle({ kind: 'failed', words: `took no connection on port ${port}: ${error.code ?? error.message}` });
    });
    socket.once('connect', () => {
      settle({ kind: 'connected', socket });
    });
  });
}
