import { NEVER_ALLOWED, type ConfinementPolicy } from './confinement-policy.js';

/** Every worker network's interface on the host begins so; no worker reaches another through two of them. */
export const INTERFACE_PREFIX = 'berthw-';

export interface RuleFacts {
  readonly policy: Pick<ConfinementPolicy, 'allowedNetworks' | 'blockedNetworks'>;
  /** IPv4 addresses. */
  readonly nameServers: readonly string[];
  readonly bridge: { readonly address: string; readonly port: number };
  /** The workers' own network, as `172.18.0.0/16`. */
  readonly subnet: string;
}

/**
 * What may leave a worker's container, as rules of one chain of the host's firewall; the first that matches counts, and
 * what none drops may go. The chain is asked before the destination is rewritten and after it, so a rewritten
 * destination opens nothing.
 *
 * Only answers are let through unseen: of a connection that the container opened each packet is judged, so that one
 * that was opened while the rules were gone ends when they are back.
 */
export function confinementRules({ policy, nameServers, bridge, subnet }: RuleFacts): readonly string[] {
  return [
    '-m conntrack --ctstate ESTABLISHED,RELATED --ctdir REPLY -j RETURN',
    `-d ${bridge.address} -p tcp -m tcp --dport ${String(bridge.port)} -j RETURN`,
    ...nameServers.flatMap((server) => [
      `-d ${server} -p udp -m udp --dport 53 -j RETURN`,
      `-d ${server} -p tcp -m tcp --dport 53 -j RETURN`,
    ]),
    '-m addrtype --dst-type LOCAL -j DROP',
    `-d ${subnet} -j DROP`,
    // Only a packet that is being forwarded has a way out; elsewhere this matches nothing.
    `-o ${INTERFACE_PREFIX}+ -j DROP`,
    ...NEVER_ALLOWED.map((network) => `-d ${network} -j DROP`),
    ...policy.allowedNetworks.map((network) => `-d ${network} -j RETURN`),
    ...policy.blockedNetworks.map((network) => `-d ${network} -j DROP`),
  ];
}

/**
 * Connections that one container may have at a time, of every protocol: one for each process that it may have, and a
 * 64th of what the kernel of a machine with 8 GiB remembers for all.
 */
const CONNECTIONS_MAX = 4_096;
/** Twice what the bridge serves of one worker, so that those that are just being closed do not count against it. */
const BRIDGE_CONNECTIONS_MAX = 1_024;
/**
 * TCP connections that one container may open. One that is closed is remembered for two minutes and counts above no
 * more: at 200 a second these are at most 24,000.
 */
const OPENED_PER_SECOND_MAX = 200;
const OPENED_BURST = 2_048;

const aboveOf = (connections: number): string =>
  `-m connlimit --connlimit-above ${String(connections)} --connlimit-mask 32 --connlimit-saddr -j DROP`;

/**
 * What bounds the connections of each container, so that none fills the table in which the kernel remembers those of
 * the whole host. Rules of a chain of their own, which is asked once for each packet: kernels differ in whether one that
 * they are asked for twice counts twice.
 */
export const countingRules = ({ bridge }: Pick<RuleFacts, 'bridge'>): readonly string[] => [
  `-p tcp -m tcp --syn -m hashlimit --hashlimit-above ${String(OPENED_PER_SECOND_MAX)}/second --hashlimit-burst ${String(OPENED_BURST)} --hashlimit-mode srcip --hashlimit-name berth-opened -j DROP`,
  `-m conntrack --ctstate NEW ${aboveOf(CONNECTIONS_MAX)}`,
  `-d ${bridge.address} -p tcp -m tcp --dport ${String(bridge.port)} --syn ${aboveOf(BRIDGE_CONNECTIONS_MAX)}`,
];

/** Worker networks have no IPv6; a container that got some all the same is let nowhere with it. */
export const IPV6_RULES: readonly string[] = ['-j DROP'];
