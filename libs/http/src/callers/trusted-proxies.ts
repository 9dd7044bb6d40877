import { BlockList } from 'node:net';
import { ipFamilyOf, parseIpNetwork, type ConfigReader, type IpFamily } from '@berth/lifecycle';
import { plainAddress } from './plain-address.js';

const VARIABLE = 'BERTH_TRUSTED_PROXIES';
const MEANING =
  'Networks of the reverse proxies in front of it (`10.0.0.0/8,fd00::/8`): their `X-Forwarded-For` is believed when ' +
  'callers without a good key are limited.';

/** The proxies whose `X-Forwarded-For` is believed: anybody else could write any address into it. */
export class TrustedProxies {
  // One list for each family: a list with both takes every IPv4 address for a part of the IPv6 ones.
  readonly #lists: Readonly<Record<IpFamily, BlockList>> = { ipv4: new BlockList(), ipv6: new BlockList() };
  readonly #isEmpty: boolean;

  /** @throws RangeError for what is neither a network, as `10.0.0.0/8`, nor an address */
  constructor(networks: readonly string[] = []) {
    this.#isEmpty = networks.length === 0;
    for (const text of networks) {
      const { address, family, prefix } = parseIpNetwork(text);
      this.#lists[family].addSubnet(address, prefix, family);
    }
  }

  has(address: string): boolean {
    if (this.#isEmpty) return false;
    const bare = plainAddress(address);
    const family = ipFamilyOf(bare);
    return family !== null && this.#lists[family].check(bare, family);
  }
}

/** Reads `BERTH_TRUSTED_PROXIES`: networks or addresses, separated by commas; none unless said. */
export function readTrustedProxies(read: ConfigReader): TrustedProxies {
  const networks = (read.optional(VARIABLE, MEANING) ?? '').split(',').map((each) => each.trim());
  try {
    return new TrustedProxies(networks.filter((each) => each !== ''));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    read.problems.push(`${VARIABLE} must be networks like 10.0.0.0/8, separated by commas: ${error.message}`);
    return new TrustedProxies();
  }
}
