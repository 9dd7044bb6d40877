import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { HostId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { HostTunnel } from './host-tunnel.js';
import { Invitations, type Invitation } from './invitations.js';
import { listenerMetrics, type ListenerMetrics } from './metrics.js';
import { knowsTraces, TUNNEL_TLS } from './tunnel-protocol.js';
import type { LinkAnswer, LinkTarget, LinkWish, WorkerLink } from './worker-link.port.js';

export interface TunnelListenerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** A host's tunnel stands, or is gone. */
  readonly onChange: (hostId: HostId) => void;
  /** Requests in one tunnel at one time; other than the default only in a test. */
  readonly streamsMax?: number;
}

/** A host that has been invited takes milliseconds. */
const HANDSHAKE_MS = 5_000;
/** Connections that have not shown yet whose they are. */
const STRANGERS_MAX = 256;

/** A router's side of all tunnels: hosts that were invited dial, and requests go to their workers the other way round. */
export class TunnelListener implements WorkerLink {
  readonly #options: TunnelListenerOptions;
  readonly #metrics: ListenerMetrics;
  readonly #server: Server;
  readonly #invitations = new Invitations();
  /** Whose connection it is, from the instant at which its ticket was taken. */
  readonly #guests = new WeakMap<TLSSocket, HostId>();
  /** By the place that they come from. */
  readonly #strangers = new Map<string, Socket>();
  /** The latest of each host. One that a newer one replaced lives until its last request is over. */
  readonly #tunnels = new Map<HostId, HostTunnel>();
  readonly #all = new Set<HostTunnel>();

  constructor(options: TunnelListenerOptions) {
    this.#options = options;
    this.#metrics = listenerMetrics(options.metrics, () => this.#all.size);
    this.#server = createServer(
      { ...TUNNEL_TLS, handshakeTimeout: HANDSHAKE_MS, pskCallback: (socket, ticket) => this.#keyOf(socket, ticket) },
      (socket) => {
        this.#welcome(socket);
      },
    );
    this.#server.on('connection', (socket: Socket) => {
      this.#watch(socket);
    });
    this.#server.on('tlsClientError', (error, socket) => {
      this.#metrics.handshakes.inc({ outcome: 'failed' });
      options.logger.debug('a connection to the tunnel port was refused', { error });
      socket.destroy();
    });
  }

  /** Port 0: a free one. @returns where it listens @throws the system's error */
  async listen(host: string, port: number): Promise<number> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on the host may open a tunnel with it, once. */
  invite(hostId: HostId, invitation: Invitation): void {
    this.#invitations.issue(hostId, invitation, this.#options.clock.monotonicMs());
  }

  /** Whether requests may begin in a tunnel of the host. */
  hasTunnel(hostId: HostId): boolean {
    return this.#tunnels.get(hostId)?.isOpen === true;
  }

  /** The one that the host may still use; null: there is none. */
  invitationOf(hostId: HostId): Invitation | null {
    return this.#invitations.openOf(hostId, this.#options.clock.monotonicMs());
  }

  async open(target: LinkTarget, signal: AbortSignal, wish: LinkWish = {}): Promise<LinkAnswer> {
    const tunnel = this.#tunnels.get(target.hostId);
    const answer: LinkAnswer =
      tunnel === undefined ? { kind: 'refused', reason: 'no-way' } : await tunnel.open(target, signal, wish);
    this.#metrics.opens.inc({ outcome: answer.kind === 'admitted' ? 'admitted' : answer.reason });
    return answer;
  }

  /** Cuts every tunnel with what is in it: whoever wants requests to end in order waits for them first. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#strangers.values()) socket.destroy();
    for (const tunnel of this.#all) tunnel.cut('the router stops');
    await closed;
  }

  /** Bounds what strangers may hold: the oldest, which had the most time, makes room. */
  #watch(socket: Socket): void {
    const [oldest] = this.#strangers.values();
    if (this.#strangers.size >= STRANGERS_MAX) oldest?.destroy();
    const place = placeOf(socket);
    this.#strangers.set(place, socket);
    // The handshake's own limit begins with its first byte.
    const cancel = this.#options.clock.after(HANDSHAKE_MS, () => {
      if (this.#strangers.get(place) === socket) socket.destroy();
    });
    socket.once('close', () => {
      cancel();
      if (this.#strangers.get(place) === socket) this.#strangers.delete(place);
    });
  }

  #keyOf(socket: TLSSocket, ticket: string): Uint8Array | null {
    const guest = this.#invitations.take(ticket, this.#options.clock.monotonicMs());
    if (guest === null) return null;
    this.#guests.set(socket, guest.hostId);
    return guest.key;
  }

  #welcome(socket: TLSSocket): void {
    const hostId = this.#guests.get(socket);
    if (hostId === undefined) {
      socket.destroy();
      return;
    }
    this.#metrics.handshakes.inc({ outcome: 'open' });
    this.#strangers.delete(placeOf(socket));
    socket.setNoDelay(true);
    this.#tunnels.get(hostId)?.close();
    const { clock, streamsMax } = this.#options;
    const tunnel: HostTunnel = new HostTunnel({
      ...{ socket, clock, knowsTraces: knowsTraces(socket), ...(streamsMax === undefined ? {} : { streamsMax }) },
      onClosed: (cause) => {
        this.#forget(hostId, tunnel, cause);
      },
    });
    this.#all.add(tunnel);
    this.#tunnels.set(hostId, tunnel);
    this.#options.logger.info('a host opened its tunnel', { hostId });
    this.#options.onChange(hostId);
  }

  #forget(hostId: HostId, tunnel: HostTunnel, cause: string | null): void {
    this.#all.delete(tunnel);
    if (cause !== null) this.#metrics.losses.inc();
    this.#options.logger.info('the tunnel of a host is gone', { hostId, cause: cause ?? 'it was closed in order' });
    if (this.#tunnels.get(hostId) === tunnel) this.#tunnels.delete(hostId);
    this.#options.onChange(hostId);
  }
}

/** No two connections to one port come from the same place. */
const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${String(remoteAddress)} ${String(remotePort)}`;
