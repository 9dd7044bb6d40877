import type { HostId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import type Dockerode from 'dockerode';
import { ask } from '../ask-engine.js';
import type { RuntimeBridge, OnRemoving } from '../../open-runtime.js';
import type { ConfinementPolicy } from './confinement-policy.js';
import { Confinement, hasIpv6 } from './confinement.js';
import { IptablesFirewall } from './firewall.js';
import { removeStrays } from './stray-containers.js';
import { ensureNetwork, removeNetwork, type WorkerNetwork } from './worker-network.js';

export interface ConfinedNetworkOptions {
  readonly hostId: HostId;
  /** Where no address is named, it listens at the host's own in the workers' network. */
  readonly bridge: RuntimeBridge;
  readonly confinement: ConfinementPolicy;
  /** Told of the workers whose containers are removed because they run outside of the network; before they are. */
  readonly onRemoving: OnRemoving;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/** Where the engine's network is elsewhere: a virtual machine's way to its host ends at the host's loopback. */
const LISTEN_ELSEWHERE = '127.0.0.1';
/** The engine's own word for the machine that it runs on. */
const ENGINES_HOST = 'host-gateway';

/** The network of this agent's containers, and the rules in the firewall that keep them there. */
export class ConfinedNetwork {
  readonly #options: ConfinedNetworkOptions;
  readonly #engine: Dockerode;
  readonly #confinement: Confinement;
  #network: WorkerNetwork;

  private constructor(options: ConfinedNetworkOptions, engine: Dockerode, { network, engineId, ipv6 }: NetworkParts) {
    const { hostId, clock, confinement: policy, logger, metrics } = options;
    this.#options = options;
    this.#engine = engine;
    this.#network = network;
    this.#confinement = new Confinement({
      policy,
      network: async () => {
        const what = `The network of host ${hostId} cannot be made`;
        this.#network = await ask(what, () => ensureNetwork(engine, { hostId, engineId }, this.#network));
        return this.#network;
      },
      firewalls: { ipv4: new IptablesFirewall('iptables'), ipv6 },
      clock,
      logger,
      metrics,
    });
  }

  /** Makes the network where it is missing. Nothing confines it before `confine`. */
  static async open(options: ConfinedNetworkOptions, engine: Dockerode, engineId: string): Promise<ConfinedNetwork> {
    const { hostId, logger, onRemoving } = options;
    const network = await ensureNetwork(engine, { hostId, engineId }, null);
    await removeStrays(engine, { hostId, network, logger, onRemoving });
    const ipv6 = (await hasIpv6()) ? new IptablesFirewall('ip6tables') : null;
    return new ConfinedNetwork(options, engine, { network, engineId, ipv6 });
  }

  get name(): string {
    return this.#network.name;
  }

  /** The address at which the agent's bridge must listen, for this host's containers and nobody else. */
  get listenHost(): string {
    return this.#options.bridge.listenHost ?? (this.#network.isHere ? this.#network.gateway : LISTEN_ELSEWHERE);
  }

  /** How containers are told of the bridge. */
  get bridge(): { readonly host: string; readonly address: string } {
    return { host: this.#options.bridge.host, address: this.#network.isHere ? this.listenHost : ENGINES_HOST };
  }

  /** What of their confinement the containers lack now, one sentence each. */
  get notes(): readonly string[] {
    return this.#confinement.notes;
  }

  /**
   * Lets containers reach the bridge at this port and nothing else of the host, from now on.
   *
   * @throws RuntimeError `runtime-unavailable` where they cannot be confined, and must be
   */
  async confine(bridgePort: number): Promise<void> {
    await this.#confinement.raise({ address: this.listenHost, port: bridgePort });
  }

  /** @throws RuntimeError `runtime-unavailable` where containers are not confined now, and must be */
  async ensure(): Promise<void> {
    await this.#confinement.ensure();
  }

  /** For when no container is left: the rules go, and the network with them. */
  async remove(): Promise<void> {
    await this.#confinement.lower();
    await ask('The network cannot be removed', () => removeNetwork(this.#engine, this.#network));
  }

  /** The rules stay, for containers that do. */
  async close(): Promise<void> {
    await this.#confinement.close();
  }
}

interface NetworkParts {
  readonly network: WorkerNetwork;
  readonly engineId: string;
  readonly ipv6: IptablesFirewall | null;
}
