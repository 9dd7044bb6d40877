import { isIPv4, isIPv6 } from 'node:net';

const PREFIX_MAX = { ipv4: 32, ipv6: 128 } as const;

export type IpFamily = keyof typeof PREFIX_MAX;

/** A network as a `BlockList` takes it. */
export interface IpNetwork {
  readonly address: string;
  readonly prefix: number;
  readonly family: IpFamily;
}

/** Null also for an address with a zone, which means another place on every host. */
export function ipFamilyOf(address: string): IpFamily | null {
  if (isIPv4(address)) return 'ipv4';
  return isIPv6(address) && !address.includes('%') ? 'ipv6' : null;
}

/**
 * Reads `10.0.0.0/8` or `fd00::/8`; an address alone is the network of that one address.
 *
 * @throws RangeError for any other text
 */
export function parseIpNetwork(text: string): IpNetwork {
  const [, address = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = ipFamilyOf(address);
  if (family === null) throw new RangeError(`not a network: "${text}"`);
  const prefix = digits === undefined ? PREFIX_MAX[family] : Number(digits);
  if (prefix > PREFIX_MAX[family]) throw new RangeError(`not a network: "${text}"`);
  return { address, prefix, family };
}
