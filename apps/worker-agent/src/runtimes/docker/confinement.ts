import { readFile } from 'node:fs/promises';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { RuntimeError } from '../container-runtime.port.js';
import type { ConfinementPolicy } from './confinement-policy.js';
import { INTERFACE_PREFIX, IPV6_RULES, confinementRules } from './confinement-rules.js';
import { FirewallError, type Fence, type Firewall } from './firewall.js';
import { confinementMetrics, type ConfinementMetrics } from './metrics.js';
import { nameServersOfMachine } from './name-servers.js';
import type { WorkerNetwork } from './worker-network.js';

export interface ConfinementOptions {
  readonly policy: ConfinementPolicy;
  /** Makes the network when it is missing; its addresses never change in an agent's life. */
  readonly network: () => Promise<WorkerNetwork>;
  /** For IPv6 null where this machine has none. */
  readonly firewalls: { readonly ipv4: Firewall; readonly ipv6: Firewall | null };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

const CHECK_MS = 10_000;
const BRIDGED_PACKETS = '/proc/sys/net/bridge/bridge-nf-call-iptables';
const HOW_TO_ACCEPT = 'BERTH_CONFINEMENT=optional starts workers all the same';

/** Keeps the containers of one agent to what the policy lets them reach, whoever changes the firewall meanwhile. */
export class Confinement {
  readonly #options: ConfinementOptions;
  readonly #metrics: ConfinementMetrics;
  readonly #loop: ControlLoop;
  #bridge: { readonly address: string; readonly port: number } | null = null;
  /** What the firewall said of each fence after it was put, by the rules that were asked for. */
  readonly #accepted = new Map<Firewall, { readonly rules: string; readonly lines: string }>();
  #checking: Promise<void> | null = null;
  #obstacle: string | null = 'the rules have not been put yet';

  constructor(options: ConfinementOptions) {
    this.#options = options;
    this.#metrics = confinementMetrics(options.metrics);
    this.#metrics.isConfined.set({}, 0);
    this.#loop = new ControlLoop({
      name: 'worker.confinement',
      intervalMs: CHECK_MS,
      clock: options.clock,
      run: () => this.#check(),
      onError: (_, error) => options.logger.error('the confinement of workers could not be looked at', { error }),
    });
  }

  /** Why nothing confines the workers now; null while they are confined. */
  get obstacle(): string | null {
    return this.#obstacle;
  }

  /**
   * Puts the rules and watches them from now on.
   *
   * @param bridge the address and port at which the containers reach their agent
   * @throws RuntimeError `runtime-unavailable` where workers cannot be confined, and must be
   */
  async raise(bridge: { readonly address: string; readonly port: number }): Promise<void> {
    this.#bridge = bridge;
    await this.ensure();
    this.#loop.start();
  }

  /**
   * Looks at the rules, and puts back what is missing.
   *
   * @throws RuntimeError `runtime-unavailable` where workers are not confined now, and must be
   */
  async ensure(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = null;
    });
    await this.#checking;
    if (this.#obstacle === null || !this.#options.policy.isRequired) return;
    throw new RuntimeError(
      'runtime-unavailable',
      `Workers cannot be confined here: ${this.#obstacle} (${HOW_TO_ACCEPT}).`,
    );
  }

  /** No more watching. The rules stay, for containers that do. */
  async close(): Promise<void> {
    await this.#loop.stop();
    await this.#checking;
  }

  /** Takes the rules away; for when no container is left that they were for. */
  async lower(): Promise<void> {
    await this.close();
    if (this.#accepted.size === 0) return;
    const network = await this.#options.network();
    for (const [firewall, fence] of this.#fences(network, [])) await firewall.remove(fence);
    this.#accepted.clear();
  }

  async #check(): Promise<void> {
    const obstacle = await this.#obstacleNow();
    if (obstacle !== this.#obstacle) this.#tell(obstacle);
    this.#obstacle = obstacle;
    this.#metrics.isConfined.set({}, obstacle === null ? 1 : 0);
  }

  async #obstacleNow(): Promise<string | null> {
    if (this.#bridge === null) return 'the port of the bridge is not known yet';
    const network = await this.#options.network();
    if (!network.isHere) {
      return "the engine's network is not on this machine: the engine is on another one, in a virtual one, or rootless";
    }
    if (!(await areBridgedPacketsShown())) {
      return `the kernel does not show the firewall what containers send each other: load br_netfilter and set ${BRIDGED_PACKETS} to 1`;
    }
    try {
      const nameServers = this.#options.policy.nameServers ?? (await nameServersOfMachine());
      for (const [firewall, fence] of this.#fences(network, nameServers)) await this.#keep(firewall, fence);
      return null;
    } catch (error) {
      if (!(error instanceof FirewallError)) throw error;
      return `the firewall cannot be set, for which the agent needs iptables and the right to change it (root, or CAP_NET_ADMIN): ${error.message}`;
    }
  }

  async #keep(firewall: Firewall, fence: Fence): Promise<void> {
    const rules = fence.rules.join('\n');
    const accepted = this.#accepted.get(firewall);
    const isWhole = accepted !== undefined && (await firewall.read(fence)).join('\n') === accepted.lines;
    if (isWhole && accepted.rules === rules) return;
    await firewall.put(fence);
    this.#accepted.set(firewall, { rules, lines: (await firewall.read(fence)).join('\n') });
    if (accepted === undefined || isWhole) return;
    this.#metrics.repairs.inc({});
    this.#options.logger.warn('somebody had changed the rules that confine workers; they are put back', {
      chain: fence.chain,
    });
  }

  #fences(network: WorkerNetwork, nameServers: readonly string[]): readonly (readonly [Firewall, Fence])[] {
    const { firewalls, policy } = this.#options;
    const { interfaceName, subnet } = network;
    const chain = interfaceName.replace(INTERFACE_PREFIX, 'BERTH-');
    const bridge = this.#bridge ?? { address: network.gateway, port: 0 };
    const rules = confinementRules({ policy, nameServers, bridge, subnet });
    const ipv4: readonly [Firewall, Fence] = [firewalls.ipv4, { chain, interfaceName, rules }];
    return firewalls.ipv6 === null ? [ipv4] : [ipv4, [firewalls.ipv6, { chain, interfaceName, rules: IPV6_RULES }]];
  }

  #tell(obstacle: string | null): void {
    const { logger, policy } = this.#options;
    if (obstacle === null) logger.info('workers are confined to their bridge, their name servers and the internet');
    else if (policy.isRequired) logger.error('workers are not confined; none is started', { obstacle });
    else logger.warn('WORKERS ARE NOT CONFINED: they may reach this host and its networks', { obstacle });
  }
}

const areBridgedPacketsShown = async (): Promise<boolean> =>
  (await readFile(BRIDGED_PACKETS, 'utf8').catch(() => '0')).trim() === '1';

/** Whether this machine speaks IPv6 at all. */
export const hasIpv6 = async (): Promise<boolean> =>
  (await readFile('/proc/net/if_inet6', 'utf8').catch(() => '')) !== '';
