const IPV4 = /^(?:\d{1,3}\.){3}\d{1,3}$/;
/** How systems show an IPv4 caller on a socket for both kinds. */
const MAPPED = /^::ffff:((?:\d{1,3}\.){3}\d{1,3})$/i;

/** Groups of the 64 bits that one customer's network has in common. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/**
 * The network that is taken for one caller: an IPv4 address, or the first 64 bits of an IPv6 one, since a holder of one
 * address of those has all of them.
 *
 * @param address as a socket tells it
 */
export function callerNetwork(address: string): string {
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (IPV4.test(address)) return address;
  return `${groupsOf(address).slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** All eight groups, written in one way: without leading zeros, in lower case, with nothing left out. */
function groupsOf(address: string): readonly string[] {
  const [bare = ''] = address.toLowerCase().split('%');
  const [head = '', tail] = bare.split('::');
  const [first, last] = [partsOf(head), partsOf(tail ?? '')];
  const missing = Math.max(0, GROUPS - first.length - last.length);
  return [...first, ...Array.from({ length: tail === undefined ? 0 : missing }, () => '0'), ...last];
}

const partsOf = (text: string): readonly string[] =>
  text === '' ? [] : text.split(':').map((group) => group.replace(/^0+(?=.)/, ''));
