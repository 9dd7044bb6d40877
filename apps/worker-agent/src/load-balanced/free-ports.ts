import { createServer, type ListenOptions } from 'node:net';
import type { WorkerId } from '@berth/domain';
import type { Random } from '@berth/lifecycle';

/** Below those that systems give to connections that are opened, so that none of these takes one away. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;
const TRIES_MAX = 200;

/** Ports of this machine for workers that share them. Each is one worker's, from before its start until it is gone. */
export class FreePorts {
  readonly #random: Random;
  readonly #held = new Map<WorkerId, readonly number[]>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** Those of a worker that was found again. */
  adopt(workerId: WorkerId, ports: readonly number[]): void {
    this.#held.set(workerId, ports);
  }

  /** Null where no free ones are found. What the worker held before is given back. */
  async take(workerId: WorkerId, count: number): Promise<readonly number[] | null> {
    const taken: number[] = [];
    this.#held.set(workerId, taken);
    for (let tries = 0; tries < TRIES_MAX && taken.length < count; tries += 1) {
      const port = FIRST_PORT + Math.floor(this.#random.fraction() * PORTS);
      if (this.#isHeld(port)) continue;
      taken.push(port);
      if (!(await isFree(port))) taken.splice(taken.indexOf(port), 1);
    }
    if (taken.length === count) return taken;
    this.release(workerId);
    return null;
  }

  release(workerId: WorkerId): void {
    this.#held.delete(workerId);
  }

  #isHeld(port: number): boolean {
    return [...this.#held.values()].some((ports) => ports.includes(port));
  }
}

/** On every address of the machine, of either kind: a worker may listen on any. */
const isFree = async (port: number): Promise<boolean> =>
  (await canListen({ port, host: '0.0.0.0' })) && (await canListen({ port, host: '::', ipv6Only: true }));

/** What a machine says that has no addresses of that kind. */
const NO_SUCH_ADDRESS = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

function canListen(where: ListenOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code = '' }: NodeJS.ErrnoException) => resolve(NO_SUCH_ADDRESS.has(code)));
    server.listen({ ...where, exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}
