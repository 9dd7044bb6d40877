import { BlockList, isIP } from 'node:net';
import { FORBIDDEN_IPV4, FORBIDDEN_IPV6, type ForbiddenNetwork } from '@berth/domain';
import { ipFamilyOf, parseIpNetwork, type IpFamily, type IpNetwork } from '@berth/lifecycle';

const PROTOCOLS: readonly string[] = ['http:', 'https:'];

/** Which addresses a webhook may name: those that are open to everybody, and those that the operator has opened. */
export class WebhookAddresses {
  /** The networks that the operator has opened, as they were given. */
  readonly networks: readonly string[];
  // One list for each family: a list with both takes every IPv4 address for a part of the IPv6 ones.
  readonly #allowed: Readonly<Record<IpFamily, BlockList>> = { ipv4: new BlockList(), ipv6: new BlockList() };

  /** @throws RangeError for what is no network, as `10.0.0.0/8` or `fd00::/8` */
  constructor(networks: readonly string[] = []) {
    this.networks = networks;
    for (const text of networks) {
      const { address, prefix, family } = parseOpened(text);
      this.#allowed[family].addSubnet(address, prefix, family);
    }
  }

  /** Why no webhook may go there; null when one may. The host may be a name still, which is looked up when it is called. */
  refusalOfUrl(text: string): string | null {
    if (!URL.canParse(text)) return 'must be an http or https URL';
    // Parsing has written every odd form of an address in its usual one: octal, hexadecimal, without dots.
    const { hostname, password, protocol, username } = new URL(text);
    if (!PROTOCOLS.includes(protocol)) return 'must be an http or https URL';
    if (username !== '' || password !== '') return 'must not hold a user name or password: put a token into the query';
    const literal = literalAddress(hostname);
    return literal === null ? null : this.refusalOf(literal);
  }

  /** Why no webhook may go to the address; null when one may. */
  refusalOf(address: string): string | null {
    const family = ipFamilyOf(address);
    if (family === null) return `must not go to ${address}: not an address that can be checked`;
    if (this.#allowed[family].check(address, family)) return null;
    const kind = FORBIDDEN[family].find(({ list }) => list.check(address, family))?.kind;
    return kind === undefined ? null : `must not go to ${address}: ${kind} addresses are not allowed`;
  }
}

/** The address that a URL's host is, or null where it is a name. */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}

const listsOf = (networks: readonly ForbiddenNetwork[], family: IpFamily) =>
  networks.map(({ address, prefix, kind }) => {
    const list = new BlockList();
    list.addSubnet(address, prefix, family);
    return { list, kind };
  });

const FORBIDDEN = { ipv4: listsOf(FORBIDDEN_IPV4, 'ipv4'), ipv6: listsOf(FORBIDDEN_IPV6, 'ipv6') };

/** The size is part of the word: an operator who opens one address says so with `/32` or `/128`. */
function parseOpened(text: string): IpNetwork {
  if (!text.includes('/')) throw new RangeError(`not a network: "${text}"`);
  return parseIpNetwork(text);
}
