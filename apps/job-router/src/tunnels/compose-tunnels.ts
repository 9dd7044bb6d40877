import { tunnelSubject } from '@berth/contracts';
import type { EndpointId, HostId } from '@berth/domain';
import { publishOneWay } from '@berth/messaging';
import { listenError, type OpenProcess } from '@berth/telemetry';
import { TunnelListener } from '@berth/tunnel';
import type { NatsConnection } from '@nats-io/transport-node';
import { TunnelOffers } from './tunnel-offers.js';

export interface TunnelSettings {
  readonly listenHost: string;
  /** 0: a free one. */
  readonly port: number;
  /** Under which hosts reach it; null: where it listens. */
  readonly advertised: { readonly host: string; readonly port: number } | null;
}

export interface TunnelParts {
  readonly settings: TunnelSettings;
  readonly connection: NatsConnection;
  /** Incarnation of this process. */
  readonly router: string;
  readonly snapshots: {
    readonly balancedHosts: () => Iterable<HostId>;
    readonly onAssignmentChanged: (listener: (endpointId: EndpointId) => void) => void;
  };
}

/** The tunnels of hosts: the way to their workers, and the offers by which it comes to stand. `offers` are to be started. */
export async function composeTunnels(process: OpenProcess, { connection, router, settings, snapshots }: TunnelParts) {
  const { clock, logger, metrics, random } = process;
  const listener = new TunnelListener({
    ...{ clock, logger, metrics },
    onChange: () => {
      offers.hurry();
    },
  });
  const { listenHost: host, port: wanted } = settings;
  const port = await listener.listen(host, wanted).catch((error: unknown) => {
    throw listenError(error, { host, port: wanted, variable: 'BERTH_TUNNEL_PORT' });
  });
  process.onStop('tunnels', () => listener.close());
  const offers = new TunnelOffers({
    ...{ listener, router, clock, random, logger },
    hosts: snapshots.balancedHosts,
    address: settings.advertised ?? { host, port },
    tell: (hostId, offer) => {
      publishOneWay(connection, tunnelSubject(hostId), offer);
    },
  });
  snapshots.onAssignmentChanged(() => {
    offers.hurry();
  });
  return { listener, offers };
}
