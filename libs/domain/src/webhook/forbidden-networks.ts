/** Addresses of one kind that a webhook may not name. */
export interface ForbiddenNetwork {
  /** First address; the prefix follows. */
  readonly address: string;
  readonly prefix: number;
  readonly kind: string;
}

const network = (cidr: string, kind: string): ForbiddenNetwork => {
  const [address = '', prefix = ''] = cidr.split('/');
  return { address, prefix: Number(prefix), kind };
};

/** All that is not unicast for everybody (IANA special-purpose registry of IPv4). */
export const FORBIDDEN_IPV4: readonly ForbiddenNetwork[] = [
  network('0.0.0.0/8', 'unspecified'),
  network('10.0.0.0/8', 'private'),
  network('100.64.0.0/10', 'carrier-grade NAT'),
  network('127.0.0.0/8', 'loopback'),
  network('169.254.0.0/16', 'link-local'),
  network('172.16.0.0/12', 'private'),
  network('192.0.0.0/24', 'reserved'),
  network('192.0.2.0/24', 'documentation'),
  network('192.88.99.0/24', 'reserved'),
  network('192.168.0.0/16', 'private'),
  network('198.18.0.0/15', 'benchmarking'),
  network('198.51.100.0/24', 'documentation'),
  network('203.0.113.0/24', 'documentation'),
  network('224.0.0.0/4', 'multicast'),
  network('240.0.0.0/4', 'reserved'),
];

/**
 * Only `2000::/3` is unicast for everybody, without the parts of it that are not. Beside loopback, private, link-local
 * and multicast this leaves out every form that carries an IPv4 address within: mapped, compatible, NAT64, 6to4, Teredo.
 */
export const FORBIDDEN_IPV6: readonly ForbiddenNetwork[] = [
  network('::/128', 'unspecified'),
  network('::1/128', 'loopback'),
  network('::ffff:0:0/96', 'IPv4-carrying'),
  network('64:ff9b::/96', 'IPv4-carrying'),
  network('fc00::/7', 'private'),
  network('fe80::/10', 'link-local'),
  network('ff00::/8', 'multicast'),
  network('::/3', 'reserved'),
  network('4000::/2', 'reserved'),
  network('8000::/1', 'reserved'),
  network('2001::/23', 'reserved'),
  network('2001:db8::/32', 'documentation'),
  network('2002::/16', 'IPv4-carrying'),
  network('3fff::/20', 'documentation'),
];
