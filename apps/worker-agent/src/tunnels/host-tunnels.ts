import { readTunnelOffer } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry, Traces } from '@berth/telemetry';
import { TunnelDialer, type WorkerLink } from '@berth/tunnel';

export interface HostTunnelsOptions {
  readonly hostId: HostId;
  /** The way to this host's own workers. */
  readonly link: WorkerLink;
  /** Dialled in place of the host that a router names; null: that one. */
  readonly via: string | null;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly traces: Pick<Traces, 'isOn' | 'step'>;
}

/** The tunnels that this host opens to routers, so that requests reach its workers: it listens for none. */
export class HostTunnels {
  readonly #options: HostTunnelsOptions;
  readonly #dialer: TunnelDialer;

  constructor(options: HostTunnelsOptions) {
    this.#options = options;
    this.#dialer = new TunnelDialer(options);
  }

  /** What a router said. One that cannot be read is passed over: the router says it again. */
  hear(body: unknown): void {
    const { logger, via } = this.#options;
    const offer = readTunnelOffer(body);
    if (offer === null) {
      logger.warn('the offer of a tunnel cannot be read; the router is of a version that this one does not know');
      return;
    }
    const { key, ...rest } = offer;
    this.#dialer.accept({ ...rest, host: via ?? rest.host, key: Buffer.from(key, 'base64url') });
  }

  /** Nothing new comes through them; what is under way goes on. */
  drain(): void {
    this.#dialer.drain();
  }

  close(): void {
    this.#dialer.close();
  }
}
