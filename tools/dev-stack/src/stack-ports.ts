import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allocatePorts, reservePortBlock, type PortReservation } from '@berth/servers';
import { ConfigError } from '@berth/lifecycle';

/** The block of ten, in its order. */
export interface StackPorts {
  readonly managementApi: number;
  readonly jobRouter: number;
  readonly bridge: number;
  readonly nats: number;
  readonly natsMonitoring: number;
  readonly postgres: number;
  readonly operations: {
    readonly 'management-api': number;
    readonly controllers: number;
    readonly 'job-router': number;
    readonly 'worker-agent': number;
  };
}

const BLOCK = 10;

/**
 * Finds the ports of this stack and frees them for their listeners. `auto` keeps the ports of the last start where they
 * are still free: workers that outlived a crash know their host by its old address only.
 *
 * @throws ConfigError when the block that was asked for is in use
 */
export async function choosePorts(wanted: number | 'auto', home: string): Promise<StackPorts> {
  const reservation = wanted === 'auto' ? await holdAny(home) : await holdBlock(wanted);
  await reservation.release();
  await writeFile(join(home, PORTS_FILE), JSON.stringify(reservation.ports));
  return namePorts(reservation.ports);
}

const PORTS_FILE = 'ports.json';

async function holdAny(home: string): Promise<PortReservation> {
  const last = await readLastPorts(join(home, PORTS_FILE));
  const held = await Promise.all(last.map((port) => reservePortBlock(port, 1)));
  const release = async (): Promise<void> => {
    await Promise.all(held.map(async (reservation) => reservation?.release()));
  };
  if (last.length === BLOCK && !held.includes(undefined)) return { ports: last, release };
  await release();
  return allocatePorts(BLOCK);
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

async function holdBlock(first: number): Promise<PortReservation> {
  const reservation = await reservePortBlock(first, BLOCK);
  if (reservation !== undefined) return reservation;
  const taken = await findTaken(first);
  throw new ConfigError([
    `BERTH_PORTS: port ${taken} is in use by another program (${first} to ${first + BLOCK - 1} are needed). ` +
      'Stop it, or set BERTH_PORTS to another first port or to auto.',
  ]);
}

async function findTaken(first: number): Promise<string> {
  const taken: number[] = [];
  for (let port = first; port < first + BLOCK; port += 1) {
    const single = await reservePortBlock(port, 1);
    if (single === undefined) taken.push(port);
    else await single.release();
  }
  return taken.join(', ');
}

function namePorts(ports: readonly number[]): StackPorts {
  const port = (index: number): number => {
    const found = ports[index];
    if (found === undefined) throw new Error(`the block has no port ${index}`);
    return found;
  };
  return {
    managementApi: port(0),
    jobRouter: port(1),
    bridge: port(2),
    nats: port(3),
    natsMonitoring: port(4),
    postgres: port(5),
    operations: { 'management-api': port(6), controllers: port(7), 'job-router': port(8), 'worker-agent': port(9) },
  };
}
