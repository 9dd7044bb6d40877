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
 * Finds the ports of this stack and frees them for their listeners.
 *
 * @throws ConfigError when the block that was asked for is in use
 */
export async function choosePorts(wanted: number | 'auto'): Promise<StackPorts> {
  const reservation = wanted === 'auto' ? await allocatePorts(BLOCK) : await holdBlock(wanted);
  await reservation.release();
  return namePorts(reservation.ports);
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
