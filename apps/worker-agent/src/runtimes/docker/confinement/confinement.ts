import { readFile } from 'node:fs/promises';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { RuntimeError } from '../../runtime-error.js';
import type { ConfinementPolicy } from './confinement-policy.js';
import { INTERFACE_PREFIX, IPV6_RULES, confinementRules, countingRules } from './confinement-rules.js';
import { FirewallError, ON_ARRIVAL, ON_EVERY_WAY, type Fence, type Firewall } from './firewall.js';
import { confinementMetrics, type ConfinementMetrics } from '../metrics.js';
import { nameServersOfMachine } from './name-servers.js';
import type { WorkerNetwork } from './worker-network.js';

export interface ConfinementOptions {
  readonly policy: ConfinementPolicy;
  /** Makes the network when it is missing; its addresses never change in an agent's life. */
  readonly network: () => Promise<WorkerNetwork>;
  /** For IPv6 null where this machine has none. */
  readonly firewalls: { readonly ipv4: Firewall; readonly ipv6: Firewall | null };
  /** Whether the kernel shows the firewall what containers send each other; the machine's own word unless said. */
  readonly areBridgedPacketsShown?: (switchFile: string) => Promise<boolean>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

const CHECK_MS = 10_000;
const BRIDGED_PACKETS = '/proc/sys/net/bridge/bridge-nf-call-iptables';
const BRIDGED_IPV6_PACKETS = '/proc/sys/net/bridge/bridge-nf-call-ip6tables';
const HOW_TO_ACCEPT = 'BERTH_CONFINEMENT=optional starts workers all the same';

/** Keeps the containers of one agent to what the policy lets them reach, also when another program changes the firewall. */
export class Confinement {
  readonly #options: ConfinementOptions;
  readonly #metrics: ConfinementMetrics;
  readonly #loop: ControlLoop;
  #bridge: { readonly address: string; readonly port: number } | null = null;
  /** What the firewall said of each chain after it was put, by the rules that were asked for. */
  readonly #accepted = new Map<Firewall, Map<string, { readonly rules: string; readonly lines: string }>>();
  /** False where kernel or `iptables` lack what counts connections. */
  #canCount = true;
  #checking: Promise<unknown> = Promise.resolve();
  #nextCheck: Promise<void> | null = null;
  #obstacle: string | null = 'the rules have not been put yet';

  constructor(options: ConfinementOptions) {
    this.#options = options;
    this.#metrics = confinementMetrics(options.metrics);
    this.#metrics.isConfined.set({}, 0);
    this.#loop = new ControlLoop({
      name: 'worker.confinement',
      intervalMs: CHECK_MS,
      clock: options.clock,
      run: () => this.#checkNext(),
      onError: (_, error) => options.logger.error('the confinement of workers could not be looked at', { error }),
    });
  }

  /** Why nothing confines the workers now; null while they are confined. */
  get obstacle(): string | null {
    return this.#obstacle;
  }

  /** What the confinement does not keep, one sentence each. */
  get notes(): readonly string[] {
    if (this.#obstacle !== null) return [`The container is not confined: ${this.#obstacle}.`];
    return this.#canCount
      ? []
      : ['How many connections the container opens is not bounded: its host cannot count them.'];
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
    await this.#checkNext();
    if (this.#obstacle === null || !this.#options.policy.isRequired) return;
    throw new RuntimeError(
      'runtime-unavailable',
      `Workers cannot be confined here: ${this.#obstacle} (${HOW_TO_ACCEPT}).`,
    );
  }

  /** No more watching. The rules stay, for containers that do. */
  async close(): Promise<void> {
    await this.#loop.stop();
    await this.#nextCheck?.catch(() => undefined);
    await this.#checking;
  }

  /** Takes the rules away; for when no container is left that they were for. */
  async lower(): Promise<void> {
    await this.close();
    if (this.#accepted.size === 0) return;
    const network = await this.#options.network();
    for (const [firewall, fence] of this.#fences(network, [])) await firewall.remove(fence);
    await this.#options.firewalls.ipv4.remove(this.#countingFence(network));
    this.#accepted.clear();
  }

  /** One at a time, so that one change is put back once; who comes meanwhile has the next, which sees what is by then. */
  #checkNext(): Promise<void> {
    this.#nextCheck ??= this.#checking.then(() => {
      this.#nextCheck = null;
      const check = this.#check();
      this.#checking = check.catch(() => undefined);
      return check;
    });
    return this.#nextCheck;
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
    const hidden = await this.#hiddenBy();
    if (hidden !== null) {
      return `the kernel does not show the firewall what containers send each other: load br_netfilter and set ${hidden} to 1`;
    }
    try {
      const nameServers = this.#options.policy.nameServers ?? (await nameServersOfMachine());
      // Each changes another part of the firewall.
      await allDone(this.#fences(network, nameServers).map(([firewall, fence]) => this.#keep(firewall, fence)));
      await this.#keepCount(this.#options.firewalls, this.#countingFence(network));
      return null;
    } catch (error) {
      if (!(error instanceof FirewallError)) throw error;
      return `the firewall cannot be set, for which the agent needs iptables and the right to change it (root, or CAP_NET_ADMIN): ${error.message}`;
    }
  }

  /** The switch that is off; of IPv6 too, where the machine has it. */
  async #hiddenBy(): Promise<string | null> {
    const { areBridgedPacketsShown: isShown = isSwitchedOn, firewalls } = this.#options;
    if (!(await isShown(BRIDGED_PACKETS))) return BRIDGED_PACKETS;
    return firewalls.ipv6 === null || (await isShown(BRIDGED_IPV6_PACKETS)) ? null : BRIDGED_IPV6_PACKETS;
  }

  /**
   * Some kernels lack the modules that count connections: where workers may go must not hang on these. That is found
   * out with the first rules; later it is something else that fails.
   */
  async #keepCount({ ipv4 }: ConfinementOptions['firewalls'], fence: Fence): Promise<void> {
    if (!this.#canCount) return;
    try {
      await this.#keep(ipv4, fence);
    } catch (error) {
      if (this.#acceptedBy(ipv4).has(fence.chain)) throw error;
      this.#canCount = false;
      const said = 'the connections of workers cannot be counted here; one worker may use up those of its host';
      this.#options.logger.warn(said, { error });
    }
  }

  async #keep(firewall: Firewall, fence: Fence): Promise<void> {
    const rules = fence.rules.join('\n');
    const accepted = this.#acceptedBy(firewall).get(fence.chain);
    const isWhole = accepted !== undefined && (await firewall.read(fence)).join('\n') === accepted.lines;
    if (isWhole && accepted.rules === rules) return;
    const lines = (await firewall.put(fence)).join('\n');
    this.#acceptedBy(firewall).set(fence.chain, { rules, lines });
    if (accepted === undefined || isWhole) return;
    this.#metrics.repairs.inc({});
    this.#options.logger.warn('somebody had changed the rules that confine workers; they are put back', {
      chain: fence.chain,
    });
  }

  #acceptedBy(firewall: Firewall): Map<string, { readonly rules: string; readonly lines: string }> {
    const present = this.#accepted.get(firewall) ?? new Map<string, { rules: string; lines: string }>();
    this.#accepted.set(firewall, present);
    return present;
  }

  #fences(network: WorkerNetwork, nameServers: readonly string[]): readonly (readonly [Firewall, Fence])[] {
    const { firewalls, policy } = this.#options;
    const { interfaceName, subnet } = network;
    const hooks = ON_EVERY_WAY;
    const fence = { chain: chainOf(network), interfaceName, hooks };
    const rules = confinementRules({ policy, nameServers, bridge: this.#bridgeIn(network), subnet });
    const ipv4: readonly [Firewall, Fence] = [firewalls.ipv4, { ...fence, rules }];
    return firewalls.ipv6 === null ? [ipv4] : [ipv4, [firewalls.ipv6, { ...fence, rules: IPV6_RULES }]];
  }

  #countingFence(network: WorkerNetwork): Fence {
    const { interfaceName } = network;
    const rules = countingRules({ bridge: this.#bridgeIn(network) });
    return { chain: `${chainOf(network)}-COUNT`, interfaceName, hooks: ON_ARRIVAL, rules };
  }

  #bridgeIn({ gateway }: WorkerNetwork): { readonly address: string; readonly port: number } {
    return this.#bridge ?? { address: gateway, port: 0 };
  }

  #tell(obstacle: string | null): void {
    const { logger, policy } = this.#options;
    if (obstacle === null) logger.info('workers are confined to their bridge, their name servers and the internet');
    else if (policy.isRequired) logger.error('workers are not confined; none is started', { obstacle });
    else logger.warn('WORKERS ARE NOT CONFINED: they may reach this host and its networks', { obstacle });
  }
}

/** Rejects with the first failure once nothing is under way any more. */
async function allDone(works: readonly Promise<void>[]): Promise<void> {
  const failure = (await Promise.allSettled(works)).find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
}

const chainOf = ({ interfaceName }: WorkerNetwork): string => interfaceName.replace(INTERFACE_PREFIX, 'BERTH-');

const isSwitchedOn = async (switchFile: string): Promise<boolean> =>
  (await readFile(switchFile, 'utf8').catch(() => '0')).trim() === '1';

/** Whether this machine speaks IPv6 at all. */
export const hasIpv6 = async (): Promise<boolean> =>
  (await readFile('/proc/net/if_inet6', 'utf8').catch(() => '')) !== '';
