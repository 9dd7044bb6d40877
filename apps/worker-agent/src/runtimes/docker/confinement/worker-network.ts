import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import type { HostId } from '@berth/domain';
import type Dockerode from 'dockerode';
import type { NetworkInspectInfo } from 'dockerode';
import { HOST_LABEL } from '../container-options.js';
import { hasStatus } from '../engine-errors.js';
import { RuntimeError } from '../../runtime-error.js';
import { INTERFACE_PREFIX } from './confinement-rules.js';

export interface WorkerNetwork {
  readonly name: string;
  /** Of its bridge on the engine's machine; no other agent on any engine has the same. */
  readonly interfaceName: string;
  /** The host's address in it. */
  readonly gateway: string;
  readonly subnet: string;
  /** Whether the engine's machine is this one, so that the gateway is an address of ours and the firewall sees it. */
  readonly isHere: boolean;
}

export interface NetworkOwner {
  readonly hostId: HostId;
  /** Which engine of which machine it is: two engines on one machine may serve hosts of two installations. */
  readonly engineId: string;
}

const HASH_CHARS = 8;

/** The agent's own network: made where it is missing, with the addresses of `known` when it was there before. */
export async function ensureNetwork(
  engine: Dockerode,
  owner: NetworkOwner,
  known: WorkerNetwork | null,
): Promise<WorkerNetwork> {
  const name = `berth-${owner.hostId}`;
  const interfaceName = interfaceOf(owner);
  const wanted = { name, interfaceName, hostId: owner.hostId };
  const look = (await lookAt(engine, name)) ?? (await make(engine, wanted, known));
  const addresses = isOurs(look, interfaceName) ? addressesIn(look) : null;
  if (addresses === null) {
    const detail = `the network ${name} is not as the agent makes it; remove it, and the agent makes it anew`;
    throw new RuntimeError('runtime-unavailable', `The engine's network cannot be used: ${detail}.`);
  }
  return { name, interfaceName, ...addresses, isHere: await isOnThisMachine(interfaceName) };
}

async function make(
  engine: Dockerode,
  { name, interfaceName, hostId }: Pick<WorkerNetwork, 'name' | 'interfaceName'> & Pick<NetworkOwner, 'hostId'>,
  known: WorkerNetwork | null,
): Promise<NetworkInspectInfo> {
  const addresses = known === null ? {} : { Config: [{ Gateway: known.gateway, Subnet: known.subnet }] };
  await engine.createNetwork({
    Name: name,
    Driver: 'bridge',
    CheckDuplicate: true,
    EnableIPv6: false,
    Labels: { [HOST_LABEL]: hostId },
    Options: optionsOf(interfaceName),
    IPAM: { Driver: 'default', ...addresses },
  });
  return engine.getNetwork(name).inspect();
}

/** Gone afterwards, unless a container still uses it. */
export async function removeNetwork(engine: Dockerode, { name }: WorkerNetwork): Promise<void> {
  try {
    await engine.getNetwork(name).remove();
  } catch (error) {
    if (!hasStatus(error, 403, 404, 409)) throw error;
  }
}

/** At most 15 characters, as the kernel takes them. */
const interfaceOf = ({ hostId, engineId }: NetworkOwner): string =>
  INTERFACE_PREFIX + createHash('sha256').update(`${engineId} ${hostId}`).digest('hex').slice(0, HASH_CHARS);

const optionsOf = (interfaceName: string): Readonly<Record<string, string>> => ({
  'com.docker.network.bridge.enable_icc': 'false',
  'com.docker.network.bridge.name': interfaceName,
});

function addressesIn({ IPAM }: NetworkInspectInfo): Pick<WorkerNetwork, 'gateway' | 'subnet'> | null {
  const { Gateway: gateway, Subnet: subnet } = IPAM?.Config?.[0] ?? {};
  return gateway === undefined || subnet === undefined ? null : { gateway, subnet };
}

function isOurs({ Driver, EnableIPv6, Options }: NetworkInspectInfo, interfaceName: string): boolean {
  const wanted = Object.entries(optionsOf(interfaceName));
  return Driver === 'bridge' && !EnableIPv6 && wanted.every(([name, value]) => Options?.[name] === value);
}

async function lookAt(engine: Dockerode, name: string): Promise<NetworkInspectInfo | null> {
  try {
    return await engine.getNetwork(name).inspect();
  } catch (error) {
    if (hasStatus(error, 404)) return null;
    throw error;
  }
}

const isOnThisMachine = (interfaceName: string): Promise<boolean> =>
  access(`/sys/class/net/${interfaceName}`).then(
    () => true,
    () => false,
  );
