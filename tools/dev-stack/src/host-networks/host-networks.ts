import { readFile } from 'node:fs/promises';
import { CommandError } from '@berth/servers';
import type { HostNetwork } from './host-network.js';
import { closeNamespaces, openNamespaces } from './namespaces.js';
import { Relay } from './relay.js';

export interface HostNetworksOptions {
  readonly home: string;
  readonly hosts: number;
  readonly runtime: 'docker' | 'process';
  /** Null: the broker is somebody else's, and listens wherever they say. */
  readonly brokerPort: number | null;
  readonly isRoot: boolean;
  readonly say: (line: string) => void;
}

const FOREIGN_BROKER = 'the broker is not its own';

/** A namespace for each host of several, where this machine can have them. */
export class HostNetworks {
  readonly #home: string;
  readonly #networks: readonly HostNetwork[];
  readonly #relays: readonly Relay[];

  private constructor(home: string, networks: readonly HostNetwork[], relays: readonly Relay[]) {
    this.#home = home;
    this.#networks = networks;
    this.#relays = relays;
  }

  /** Hosts that can have none share this machine's network, which is said with the reason. */
  static async open(options: HostNetworksOptions): Promise<HostNetworks> {
    const { brokerPort, home, hosts, say } = options;
    const none = new HostNetworks(home, [], []);
    if (hosts === 1) return none;
    try {
      const why = await whyNone(options);
      if (why === null && brokerPort !== null) return await HostNetworks.#make(home, hosts, brokerPort);
      say(`hosts share this machine's network: ${why ?? FOREIGN_BROKER}`);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      say(`hosts share this machine's network: ${error.message}`);
    }
    return none;
  }

  static async #make(home: string, hosts: number, brokerPort: number): Promise<HostNetworks> {
    const networks = await openNamespaces(home, hosts);
    const to = { host: '127.0.0.1', port: brokerPort };
    const relays = await Promise.all(
      networks.map(({ machineAddress: host }) => Relay.open({ host, port: brokerPort }, to)),
    );
    return new HostNetworks(home, networks, relays);
  }

  /** @param index of the host, from 0; undefined: it is in this machine's network */
  of(index: number): HostNetwork | undefined {
    return this.#networks[index];
  }

  async close(): Promise<void> {
    await Promise.all(this.#relays.map((relay) => relay.close()));
    await closeNamespaces(this.#home);
  }
}

/** Null where nothing speaks against namespaces. */
async function whyNone({ brokerPort, isRoot, runtime }: HostNetworksOptions): Promise<string | null> {
  if (runtime === 'docker') return 'their containers are joined to it by the engine';
  if (!isRoot) return 'only root may make others';
  if (brokerPort === null) return FOREIGN_BROKER;
  return (await isResolverLocal()) ? "this machine's name server listens on its loopback only" : null;
}

/** Without the file the resolver of the C library asks this machine, too. */
async function isResolverLocal(): Promise<boolean> {
  const text = await readFile('/etc/resolv.conf', 'utf8').catch(() => 'nameserver 127.0.0.1');
  const servers = [...text.matchAll(/^nameserver\s+(\S+)/gm)].map(([, server = '']) => server);
  return servers.some((server) => server.startsWith('127.') || server === '::1');
}
