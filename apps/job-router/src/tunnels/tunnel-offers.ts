import { randomBytes } from 'node:crypto';
import type { TunnelOfferMessage } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { ControlLoop, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { Invitation, TunnelListener } from '@berth/tunnel';

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

/** Also how long a host waits that did not hear an offer, as one whose agent was just being started. */
const INTERVAL_MS = 2_000;
/** A host that was told so short a time ago is not told again: it may be dialling. */
const TOLD_MS = INTERVAL_MS / 2;
/** Assignments change by the hundred when hosts come and go. */
const PAUSE_MS = 50;
const TICKET_LENGTH = 20;
const KEY_BYTES = 32;

/** Offers each host that has work for this router a tunnel, again and again until it stands. */
export class TunnelOffers {
  readonly #options: TunnelOffersOptions;
  readonly #loop: ControlLoop;
  /** When each host was told last, monotonic: those alone that were told just now. */
  readonly #toldAtMs = new Map<HostId, number>();

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
    const { clock, hosts, listener } = this.#options;
    const nowMs = clock.monotonicMs();
    for (const [hostId, toldAtMs] of this.#toldAtMs) if (nowMs - toldAtMs >= TOLD_MS) this.#toldAtMs.delete(hostId);
    for (const hostId of new Set(hosts())) {
      if (listener.hasTunnel(hostId)) continue;
      const open = listener.invitationOf(hostId);
      if (open !== null && this.#toldAtMs.has(hostId)) continue;
      this.#toldAtMs.set(hostId, nowMs);
      // The same one again: the host may have heard it and be on its way.
      this.#tell(hostId, open ?? this.#invite(hostId));
    }
  }

  #invite(hostId: HostId): Invitation {
    const { listener, random } = this.#options;
    const invitation = { ticket: random.id(TICKET_LENGTH), key: randomBytes(KEY_BYTES) };
    listener.invite(hostId, invitation);
    return invitation;
  }

  #tell(hostId: HostId, { key, ticket }: Invitation): void {
    const { address, router, tell } = this.#options;
    tell(hostId, { router, ...address, ticket, key: Buffer.from(key).toString('base64url') });
  }
}
