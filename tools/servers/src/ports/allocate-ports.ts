import { createServer, type Server } from 'node:net';

export interface PortReservation {
  /** As many different loopback ports as asked for. */
  readonly ports: readonly number[];
  /** Frees them for the process that is to listen; call it just before. Safe to call twice. */
  release(): Promise<void>;
}

const PORTS_MAX = 100;

/**
 * Picks free ports and keeps them bound until `release`, so that nobody who asks in between gets the same ones.
 * Between `release` and the real listener a stranger may still take one: a starter must retry on "address in use".
 */
export const allocatePorts = async (count: number): Promise<PortReservation> => {
  if (!Number.isInteger(count) || count < 1 || count > PORTS_MAX) {
    throw new RangeError(`A reservation holds 1 to ${String(PORTS_MAX)} ports, not ${String(count)}.`);
  }
  return holdPorts(Array.from({ length: count }, () => 0));
};

/** Holds `count` ports in a row that begins at `first`, or answers `undefined` when one of them is in use. */
export const reservePortBlock = async (first: number, count: number): Promise<PortReservation | undefined> => {
  try {
    return await holdPorts(Array.from({ length: count }, (_, index) => first + index));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
};

const holdPorts = async (wanted: readonly number[]): Promise<PortReservation> => {
  const results = await Promise.allSettled(wanted.map(listen));
  const servers = results.filter((result) => result.status === 'fulfilled').map((result) => result.value);
  const release = once(async () => {
    await Promise.all(servers.map(close));
  });
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    await release();
    throw failed.reason;
  }
  return { ports: servers.map(portOf), release };
};

const listen = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.unref();
      resolve(server);
    });
  });

const close = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.close((error) => {
      if (error) reject(error);
      else resolve();
    });
  });

const portOf = (server: Server): number => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP listener has a port.');
  return address.port;
};

const once = (action: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | undefined;
  return () => (done ??= action());
};
