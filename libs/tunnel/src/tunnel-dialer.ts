import { connect, type TLSSocket } from 'node:tls';
import type { HostId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry, Traces } from '@berth/telemetry';
import type { Invitation } from './invitations.js';
import { dialerMetrics, type DialerMetrics } from './metrics.js';
import { ServedTunnel } from './served-tunnel.js';
import { TUNNEL_TLS } from './tunnel-protocol.js';
import type { WorkerLink } from './worker-link.port.js';

/** Where a router waits for the host's tunnel, and how both know each other there. */
export interface TunnelOffer extends Invitation {
  /** The router's process: one tunnel to each. */
  readonly router: string;
  readonly host: string;
  readonly port: number;
}

export interface TunnelDialerOptions {
  readonly hostId: HostId;
  /** The way to this host's own workers. */
  readonly link: WorkerLink;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly traces: Pick<Traces, 'isOn' | 'step'>;
}

/** More routers than any installation has; what is offered beyond is left. */
const TUNNELS_MAX = 64;
const CONNECT_MS = 5_000;

/**
 * A host's side of all tunnels: it dials the routers that offer one, and answers what they ask. A router offers again for as
 * long as there is no tunnel, so nothing is tried twice here.
 */
export class TunnelDialer {
  readonly #options: TunnelDialerOptions;
  readonly #metrics: DialerMetrics;
  /** By router; null while it is dialled. */
  readonly #tunnels = new Map<string, TLSSocket>();
  readonly #served = new Set<ServedTunnel>();
  #isLeaving = false;

  constructor(options: TunnelDialerOptions) {
    this.#options = options;
    this.#metrics = dialerMetrics(options.metrics, () => this.#served.size);
  }

  /** Dials, unless there is a tunnel to this router already, or one is being opened, or this host is about to stop. */
  accept(offer: TunnelOffer): void {
    const { router } = offer;
    if (this.#isLeaving || this.#tunnels.has(router)) return;
    if (this.#tunnels.size >= TUNNELS_MAX) {
      this.#options.logger.warn('a router offers a tunnel, and there are too many', { router, most: TUNNELS_MAX });
      return;
    }
    const socket = this.#dial(offer);
    this.#tunnels.set(router, socket);
    socket.once('close', () => {
      this.#tunnels.delete(router);
    });
  }

  /** What is under way goes on; nothing begins any more, also not in a tunnel that a router offers for one that has closed. */
  drain(): void {
    this.#isLeaving = true;
    for (const tunnel of this.#served) tunnel.leave();
  }

  close(): void {
    this.#isLeaving = true;
    for (const socket of this.#tunnels.values()) socket.destroy();
  }

  #dial(offer: TunnelOffer): TLSSocket {
    const { host, key: psk, port, router, ticket: identity } = offer;
    const { clock, logger } = this.#options;
    const socket = connect({
      ...TUNNEL_TLS,
      host,
      port,
      pskCallback: () => ({ psk, identity }),
      // The key is the identity: a router has no name.
      checkServerIdentity: () => undefined,
    });
    const cancel = clock.after(CONNECT_MS, () => {
      socket.destroy(new Error('the router did not answer in time'));
    });
    let outcome = 'failed';
    socket.once('close', () => {
      cancel();
      if (outcome === 'failed') this.#metrics.dials.inc({ outcome });
    });
    socket.on('error', (error) => {
      logger.warn('the tunnel to a router failed', { router, address: `${host}:${String(port)}`, error });
    });
    socket.once('secureConnect', () => {
      cancel();
      outcome = 'open';
      this.#metrics.dials.inc({ outcome });
      socket.setNoDelay(true);
      logger.info('the tunnel to a router stands', { router });
      this.#serve(socket, router);
    });
    return socket;
  }

  #serve(socket: TLSSocket, router: string): void {
    const { clock, hostId, link, logger, traces } = this.#options;
    const served = new ServedTunnel({
      ...{ hostId, link, clock, socket, traces },
      onClosed: ({ cause, requests }) => {
        if (requests > 0 || (cause !== null && !this.#isLeaving)) this.#metrics.losses.inc();
        this.#served.delete(served);
        logger.info('the tunnel to a router is gone', { router, cause: cause ?? 'it was closed in order' });
      },
    });
    this.#served.add(served);
    if (this.#isLeaving) served.leave();
  }
}
