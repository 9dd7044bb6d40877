import { isIPv4 } from 'node:net';
import type { ConfigReader } from '@berth/lifecycle';

/** Where the containers of workers may go besides their bridge and their name servers. */
export interface ConfinementPolicy {
  /** False: workers are started although nothing confines them, each with a note that says so. */
  readonly isRequired: boolean;
  /** IPv4 networks that they may not reach, as `10.0.0.0/8`. */
  readonly blockedNetworks: readonly string[];
  /** IPv4 networks that they may reach although a blocked one holds them. */
  readonly allowedNetworks: readonly string[];
  /** IPv4 addresses that they ask for names; null: those that this machine asks. */
  readonly nameServers: readonly string[] | null;
}

/** Networks that an operator's own machines are in: private ones, and those that carriers and clouds share. */
const BLOCKED_NETWORKS_DEFAULT: readonly string[] = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
];

/**
 * What no setting opens: this network, loopback, link-local addresses (on which clouds tell a machine's credentials),
 * the addresses on which some clouds do the same elsewhere, multicast, and the reserved rest with the broadcast.
 */
export const NEVER_ALLOWED: readonly string[] = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

const CONFINEMENT =
  '`required`: no container where the firewall cannot confine it; `optional`: also there, with a note on the worker.';

/** Networks or name servers that one setting may list. */
const NETWORKS_MAX = 256;

const PREFIX_MAX = 32;

/** An IPv4 address, or a network with its prefix. */
function isNetwork(text: string): boolean {
  const [address = '', prefix = String(PREFIX_MAX), ...more] = text.split('/');
  return isIPv4(address) && /^\d{1,2}$/.test(prefix) && Number(prefix) <= PREFIX_MAX && more.length === 0;
}

/** Notes what cannot be used in the reader's problems. */
export const readConfinement = (read: ConfigReader): ConfinementPolicy => ({
  isRequired:
    read.oneOf('BERTH_CONFINEMENT', CONFINEMENT, { choices: ['required', 'optional'], fallback: 'required' }) ===
    'required',
  blockedNetworks: readNetworks(read, 'BERTH_WORKER_BLOCKED_NETWORKS', {
    meaning: 'IPv4 networks that containers may not reach, with commas between, or `none`.',
    fallback: BLOCKED_NETWORKS_DEFAULT.join(','),
  }),
  allowedNetworks: readNetworks(read, 'BERTH_WORKER_ALLOWED_NETWORKS', {
    meaning: 'IPv4 networks that containers may reach although a blocked one holds them, with commas between.',
    fallback: 'none',
  }),
  nameServers: readNameServers(read),
});

const readNetworks = (
  read: ConfigReader,
  name: string,
  { meaning, fallback }: { readonly meaning: string; readonly fallback: string },
): readonly string[] => listOf(read, name, { text: read.string(name, meaning, fallback), isUsable: isNetwork });

function readNameServers(read: ConfigReader): readonly string[] | null {
  const name = 'BERTH_WORKER_NAME_SERVERS';
  const meaning = 'IPv4 addresses that containers ask for names, with commas between, or `none`.';
  const text = read.optional(name, `${meaning} Without it those that this machine asks.`);
  return text === null ? null : listOf(read, name, { text, isUsable: isIPv4 });
}

/** `none` is a list of nothing. */
function listOf(
  read: ConfigReader,
  name: string,
  { text, isUsable }: { readonly text: string; readonly isUsable: (entry: string) => boolean },
): readonly string[] {
  const entries = text === 'none' ? [] : text.split(',').map((each) => each.trim());
  const wrong = entries.find((each) => !isUsable(each));
  if (wrong !== undefined) read.problems.push(`${name} lists "${wrong}", which is no IPv4 address or network`);
  if (entries.length > NETWORKS_MAX) read.problems.push(`${name} lists more than ${String(NETWORKS_MAX)} entries`);
  return entries;
}
