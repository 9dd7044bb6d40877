const MAPPED = /^::ffff:(?=\d+\.)/i;

/** An IPv4 address as such, which a socket for both kinds shows within an IPv6 one; any other text as it is. */
export const plainAddress = (address: string): string => address.replace(MAPPED, '');
