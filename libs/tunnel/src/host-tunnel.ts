import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { Shares, type EndpointId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { keepAlive } from './keep-alive.js';
import { omitEmptyWrites } from './omit-empty-writes.js';
import { ENDS_BY_TRAILERS, endInOrder } from './orderly-end.js';
import { TunnelError } from './tunnel-error.js';
import { headOf, readAdmission, SESSION_OPTIONS, SESSION_WINDOW_BYTES, STREAMS_MAX } from './tunnel-protocol.js';
import type { LinkAnswer, LinkTarget, LinkWish } from './worker-link.port.js';

export interface HostTunnelOptions {
  /** The host's connection, of which nothing has been read. */
  readonly socket: TLSSocket;
  readonly clock: Clock;
  /** Requests at one time; other than the default only in a test. */
  readonly streamsMax?: number;
  /** Called once. @param cause why it was lost; null where the host closed it in order */
  readonly onClosed: (cause: string | null) => void;
}

/** A router's end of the tunnel that a host opened. The host dialled, and from then on it is the one that answers. */
export class HostTunnel {
  readonly #session: ClientHttp2Session;
  readonly #streams = new Set<ClientHttp2Stream>();
  /** HTTP/2 would let a stream too many wait, behind all endpoints of the host. */
  readonly #shares: Shares<EndpointId>;
  #cause: string | null = null;

  constructor({ clock, onClosed, socket, streamsMax = STREAMS_MAX }: HostTunnelOptions) {
    this.#shares = new Shares(streamsMax);
    // Before the session hears of it, so that each stream fails with the reason and not as if its caller had cancelled it.
    socket.on('error', (error: Error) => {
      this.#lose(error.message);
    });
    socket.on('close', () => {
      this.#lose('its connection closed');
    });
    this.#session = connect('http://host', { ...SESSION_OPTIONS, createConnection: () => socket });
    this.#session.once('connect', () => {
      this.#session.setLocalWindowSize(SESSION_WINDOW_BYTES);
    });
    this.#session.on('error', (error: Error) => {
      this.#lose(error.message);
    });
    this.#session.once('close', () => {
      onClosed(this.#cause);
    });
    keepAlive(this.#session, clock, () => {
      this.#lose('the host answers no more');
    });
  }

  /** Whether requests may still begin in it. */
  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  open(target: LinkTarget, signal: AbortSignal, { mayWait = false }: LinkWish = {}): Promise<LinkAnswer> {
    if (signal.aborted) return Promise.resolve({ kind: 'refused', reason: 'timed-out' });
    if (!this.#shares.hasRoomFor(target.endpointId, 1)) return Promise.resolve({ kind: 'refused', reason: 'full' });
    const stream = this.#begin(target, mayWait);
    if (stream === null) return Promise.resolve({ kind: 'refused', reason: 'no-way' });
    const { promise, resolve } = Promise.withResolvers<LinkAnswer>();
    const settle = (answer: LinkAnswer): void => {
      signal.removeEventListener('abort', giveUp);
      resolve(answer);
    };
    const giveUp = (): void => {
      stream.close(constants.NGHTTP2_CANCEL);
      settle({ kind: 'refused', reason: 'timed-out' });
    };
    signal.addEventListener('abort', giveUp, { once: true });
    stream.once('response', (headers) => {
      const reason = readAdmission(headers);
      if (reason === null) settle({ kind: 'admitted', stream });
      else {
        // The host has ended its half alone, and a stream of which one half is open counts for as long as the tunnel lives.
        stream.close(constants.NGHTTP2_CANCEL);
        settle({ kind: 'refused', reason });
      }
    });
    stream.once('close', () => {
      settle({ kind: 'refused', reason: 'no-way' });
    });
    return promise;
  }

  /** No request begins in it any more; it closes after the last one. */
  close(): void {
    this.#session.close();
  }

  /** Ends it with all that is in it. */
  cut(reason: string): void {
    this.#lose(reason);
  }

  #begin(target: LinkTarget, mayWait: boolean): ClientHttp2Stream | null {
    if (!this.isOpen) return null;
    const stream = this.#session.request(headOf(target, mayWait), ENDS_BY_TRAILERS);
    endInOrder(stream);
    omitEmptyWrites(stream);
    this.#streams.add(stream);
    this.#shares.add(target.endpointId, 1);
    stream.once('close', () => {
      this.#streams.delete(stream);
      this.#shares.add(target.endpointId, -1);
    });
    // Its reader listens for itself; one that nobody has yet must not end the process.
    stream.on('error', () => undefined);
    return stream;
  }

  #lose(cause: string): void {
    if (this.#session.destroyed || this.#cause !== null) return;
    this.#cause = cause;
    for (const stream of this.#streams) stream.destroy(new TunnelError(`The way to the worker is lost: ${cause}.`));
    this.#session.destroy();
  }
}
