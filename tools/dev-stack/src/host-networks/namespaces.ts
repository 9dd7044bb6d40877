import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { CommandError, runCommand } from '@berth/servers';
import { HOST_INTERFACE, PREFIX_BITS, chooseHostNetworks, type HostNetwork } from './host-network.js';

const COMMAND_MS = 10_000;
const FORWARDING = 'net.ipv4.ip_forward';
/** Says what is to be taken away again, also by the next start where this one was killed. */
const RECORD_FILE = 'host-networks.json';

const run = (command: string, ...args: readonly string[]): Promise<string> =>
  runCommand(command, args, { timeoutMs: COMMAND_MS });

/**
 * Gives each of so many hosts a network namespace from which it reaches this machine and whatever this machine reaches.
 * For that the machine forwards packets. It goes on doing so afterwards: by then a container engine may rely on it.
 *
 * @throws CommandError where the machine does not let this be done; nothing is left of it then
 */
export async function openNamespaces(home: string, count: number): Promise<readonly HostNetwork[]> {
  const networks = chooseHostNetworks(home, count, ownAddresses());
  await writeRecord(home, networks);
  try {
    await run('sysctl', '-q', '-w', `${FORWARDING}=1`);
    for (const network of networks) await open(network);
    return networks;
  } catch (error) {
    await closeNamespaces(home);
    throw error;
  }
}

/** Takes away what this start, or one that was killed, has made. Nothing there is success. */
export async function closeNamespaces(home: string): Promise<void> {
  const networks = await readRecord(home);
  if (networks === null) return;
  for (const network of networks) await close(network);
  await rm(join(home, RECORD_FILE), { force: true });
}

const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ family }) => family === 'IPv4').map(({ address }) => address),
  );

async function open({ hostAddress, interfaceName, machineAddress, namespace }: HostNetwork): Promise<void> {
  const inside = (...args: readonly string[]): Promise<string> => run('ip', '-n', namespace, ...args);
  await run('ip', 'netns', 'add', namespace);
  const peer = ['type', 'veth', 'peer', 'name', HOST_INTERFACE, 'netns', namespace];
  await run('ip', 'link', 'add', interfaceName, ...peer);
  await run('ip', 'addr', 'add', `${machineAddress}/${PREFIX_BITS}`, 'dev', interfaceName);
  await run('ip', 'link', 'set', interfaceName, 'up');
  await inside('addr', 'add', `${hostAddress}/${PREFIX_BITS}`, 'dev', HOST_INTERFACE);
  await inside('link', 'set', 'lo', 'up');
  await inside('link', 'set', HOST_INTERFACE, 'up');
  await inside('route', 'add', 'default', 'via', machineAddress);
  for (const rule of rulesOf(hostAddress, interfaceName)) await run('iptables', '-w', ...rule('-I'));
}

/** Its callers are told nothing of it: an end that is there already, or half, is the end that was asked for. */
async function close({ hostAddress, interfaceName, namespace }: HostNetwork): Promise<void> {
  for (const rule of rulesOf(hostAddress, interfaceName)) await ignoringAbsence(run('iptables', '-w', ...rule('-D')));
  await ignoringAbsence(run('ip', 'link', 'del', interfaceName));
  await ignoringAbsence(run('ip', 'netns', 'del', namespace));
}

type Rule = (verb: '-I' | '-D') => readonly string[];

/** To the internet by the machine's own address, and back. */
const rulesOf = (hostAddress: string, interfaceName: string): readonly Rule[] => [
  (verb) => ['-t', 'nat', verb, 'POSTROUTING', '-s', hostAddress, '!', '-o', interfaceName, '-j', 'MASQUERADE'],
  (verb) => [verb, 'FORWARD', '-i', interfaceName, '-j', 'ACCEPT'],
  (verb) => [verb, 'FORWARD', '-o', interfaceName, '-j', 'ACCEPT'],
];

const ABSENT = /Cannot find device|No such file or directory|does a matching rule exist|Bad rule|No chain\/target/;

async function ignoringAbsence(command: Promise<string>): Promise<void> {
  try {
    await command;
  } catch (error) {
    if (!(error instanceof CommandError) || !ABSENT.test(error.message)) throw error;
  }
}

async function writeRecord(home: string, networks: readonly HostNetwork[]): Promise<void> {
  const path = join(home, RECORD_FILE);
  await writeFile(`${path}.new`, JSON.stringify(networks));
  await rename(`${path}.new`, path);
}

async function readRecord(home: string): Promise<readonly HostNetwork[] | null> {
  try {
    return JSON.parse(await readFile(join(home, RECORD_FILE), 'utf8')) as readonly HostNetwork[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
