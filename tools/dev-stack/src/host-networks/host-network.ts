import { createHash } from 'node:crypto';

/** The network of one host: a namespace that one pair of interfaces joins to this machine's own. */
export interface HostNetwork {
  readonly namespace: string;
  /** Of the pair's end on the machine's side; the other end is called as any machine's. */
  readonly interfaceName: string;
  /** Where the host finds this machine. */
  readonly machineAddress: string;
  /** Where this machine finds the host. */
  readonly hostAddress: string;
}

export const HOST_INTERFACE = 'eth0';
export const PREFIX_BITS = 30;

/** Set aside for benchmarks of network devices (RFC 2544): no address that a machine reaches for a purpose is in it. */
const BLOCKS = Array.from({ length: 2 ** 15 }, (_, index) => {
  const third = (index >> 6) & 0xff;
  return `198.${18 + (index >> 14)}.${third}.${(index & 0x3f) * 4}`;
});
const ID_CHARACTERS = 6;

/**
 * Networks of as many hosts, in blocks of four addresses that no interface of this machine is in.
 *
 * @param home each stack has names of its own by it
 * @param taken addresses of this machine's interfaces
 * @returns fewer where there are not enough free blocks
 */
export function chooseHostNetworks(home: string, count: number, taken: readonly string[]): readonly HostNetwork[] {
  const digest = createHash('sha256').update(home).digest();
  const id = digest.toString('hex').slice(0, ID_CHARACTERS);
  const start = digest.readUInt16BE(0) % BLOCKS.length;
  const used = new Set(taken.map(blockOf));
  const free = [...BLOCKS.slice(start), ...BLOCKS.slice(0, start)].filter((block) => !used.has(block));
  return free.slice(0, count).map((block, index) => ({
    namespace: `berth-${id}-${index + 1}`,
    interfaceName: `bh${id}-${index + 1}`,
    machineAddress: addressIn(block, 1),
    hostAddress: addressIn(block, 2),
  }));
}

const addressIn = (block: string, offset: number): string => {
  const [a, b, c, d] = block.split('.');
  return `${a}.${b}.${c}.${Number(d) + offset}`;
};

const blockOf = (address: string): string => {
  const [a, b, c, d] = address.split('.');
  return `${a}.${b}.${c}.${Number(d) & ~0b11}`;
};
