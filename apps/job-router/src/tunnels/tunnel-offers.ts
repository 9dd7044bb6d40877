import { randomBytes } from 'node:crypto';
import type { TunnelOfferMessage } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { ControlLoop, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { TunnelListener } from '@berth/tunnel';

export interface TunnelOffersOptions {
  readonly listener: TunnelListener;
  /** Hosts that have workers of load-balanced endpoints, or soon will. */
  readonly hosts: () => Iterable<HostId>;
  /** Incarnation of this process. */
  readonly router: string;
  /** Under which hosts reach the listener. */
  readonly address: { readonly host: string; readonly port: number };
  readonly tell: (hostId: HostId, offer: TunnelOfferMessage) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Also how long a host waits that did not hear an offer, or whose tunnel failed as it opened it. */
const INTERVAL_MS = 2_000;
/** Assignments change by the hundred when hosts come and go. */
const PAUSE_MS = 50;
const TICKET_LENGTH = 20;
const KEY_BYTES = 32;

/** Offers each host that has work for this router a tunnel, again and again until it stands. */
export class TunnelOffers {
  readonly #options: TunnelOffersOptions;
  readonly #loop: ControlLoop;

  constructor(options: TunnelOffersOptions) {
    const { clock, logger } = options;
    this.#options = options;
    this.#loop = new ControlLoop({
      name: 'tunnel-offers',
      intervalMs: INTERVAL_MS,
      clock,
      run: async () => {
        this.#offer();
      },
      onError: (_, error) => {
        logger.warn('hosts could not be offered a tunnel', { error });
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** There may be hosts that need an offer. */
  hurry(): void {
    this.#loop.hurryPaced(PAUSE_MS);
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
  }

  #offer(): void {
    const { address, hosts, listener, random, router, tell } = this.#options;
    for (const hostId of new Set(hosts())) {
      if (listener.isExpected(hostId)) continue;
      const invitation = { ticket: random.id(TICKET_LENGTH), key: randomBytes(KEY_BYTES) };
      listener.invite(hostId, invitation);
      const { key, ticket } = invitation;
      tell(hostId, { router, ...address, ticket, key: key.toString('base64url') });
    }
  }
}
