import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allocatePorts, reservePortBlock, type PortReservation } from '@berth/servers';
import { ConfigError } from '@berth/lifecycle';

/** Where a stack listens. */
export interface StackPorts {
  readonly managementApi: number;
  /** In the order of their names; there is always a first. */
  readonly routers: readonly [RouterPorts, ...RouterPorts[]];
  /** In the order of their names; there is always a first. */
  readonly agents: readonly [AgentPorts, ...AgentPorts[]];
  readonly nats: number;
  readonly natsMonitoring: number;
  readonly postgres: number;
  readonly operations: {
    readonly 'management-api': number;
    readonly controllers: number;
  };
}

interface RouterPorts {
  readonly http: number;
  readonly operations: number;
}

interface AgentPorts {
  readonly bridge: number;
  readonly operations: number;
}

/** How many of each there are; at least one. */
export interface RepeatedProcesses {
  readonly routers: number;
  readonly hosts: number;
}

/** Of a stack with one router and one host. Behind it each further router has two ports, and then each further host. */
const BLOCK = 10;
const PORTS_OF_FURTHER = 2;
const PORT_LAST = 65_535;

const portsNeeded = ({ hosts, routers }: RepeatedProcesses): number =>
  BLOCK + PORTS_OF_FURTHER * (routers - 1 + hosts - 1);

/** Highest first port behind which there is room for all of them. */
export const firstPortMax = (processes: RepeatedProcesses): number => PORT_LAST - portsNeeded(processes) + 1;

export interface WantedPorts extends RepeatedProcesses {
  readonly first: number | 'auto';
}

/**
 * Finds the ports of this stack and frees them for their listeners. `auto` keeps the ports of the last start where they
 * are still free: workers that outlived a crash know their host by its old address only.
 *
 * @throws ConfigError when one of the ports that were asked for is in use
 */
export async function choosePorts({ first, ...processes }: WantedPorts, home: string): Promise<StackPorts> {
  const count = portsNeeded(processes);
  const reservation = first === 'auto' ? await holdAny(home, count) : await holdBlock(first, count);
  await reservation.release();
  await writeFile(join(home, PORTS_FILE), JSON.stringify(reservation.ports));
  return namePorts(reservation.ports, processes);
}

const PORTS_FILE = 'ports.json';

async function holdAny(home: string, count: number): Promise<PortReservation> {
  const last = (await readLastPorts(join(home, PORTS_FILE))).slice(0, count);
  const held = await Promise.all(last.map((port) => reservePortBlock(port, 1)));
  const kept = held.filter((reservation) => reservation !== undefined);
  if (last.length < BLOCK || kept.length < last.length) {
    await releaseAll(kept);
    return allocatePorts(count);
  }
  const more = last.length === count ? [] : [await allocatePorts(count - last.length)];
  const ports = [...last, ...more.flatMap((reservation) => reservation.ports)];
  return { ports, release: () => releaseAll([...kept, ...more]) };
}

async function releaseAll(reservations: readonly PortReservation[]): Promise<void> {
  await Promise.all(reservations.map((reservation) => reservation.release()));
}

/** Empty at the first start, and where the file is not what this program writes. */
async function readLastPorts(path: string): Promise<readonly number[]> {
  try {
    const ports: unknown = JSON.parse(await readFile(path, 'utf8'));
    return Array.isArray(ports) && ports.every((port) => Number.isInteger(port)) ? (ports as number[]) : [];
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function holdBlock(first: number, count: number): Promise<PortReservation> {
  const reservation = await reservePortBlock(first, count);
  if (reservation !== undefined) return reservation;
  const taken = await findTaken(first, count);
  throw new ConfigError([
    `BERTH_PORTS: port ${taken} is in use by another program (${first} to ${first + count - 1} are needed). ` +
      'Stop it, or set BERTH_PORTS to another first port or to auto.',
  ]);
}

async function findTaken(first: number, count: number): Promise<string> {
  const taken: number[] = [];
  for (let port = first; port < first + count; port += 1) {
    const single = await reservePortBlock(port, 1);
    if (single === undefined) taken.push(port);
    else await single.release();
  }
  return taken.join(', ');
}

function namePorts(ports: readonly number[], { routers }: RepeatedProcesses): StackPorts {
  const port = (index: number): number => {
    const found = ports[index];
    if (found === undefined) throw new Error(`the block has no port ${index}`);
    return found;
  };
  const further = pairs(ports.slice(BLOCK));
  const furtherRouters = further.slice(0, routers - 1).map(([http, operations]) => ({ http, operations }));
  const furtherAgents = further.slice(routers - 1).map(([bridge, operations]) => ({ bridge, operations }));
  return {
    managementApi: port(0),
    routers: [{ http: port(1), operations: port(8) }, ...furtherRouters],
    agents: [{ bridge: port(2), operations: port(9) }, ...furtherAgents],
    nats: port(3),
    natsMonitoring: port(4),
    postgres: port(5),
    operations: { 'management-api': port(6), controllers: port(7) },
  };
}

function pairs([one, other, ...rest]: readonly number[]): readonly (readonly [number, number])[] {
  return one === undefined || other === undefined ? [] : [[one, other], ...pairs(rest)];
}
