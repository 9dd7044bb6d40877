import { join } from 'node:path';
import { allocatePorts } from '../ports/allocate-ports.js';
import { startNatsServer, type NatsServer, type StartNatsServerOptions } from './start-nats-server.js';

export interface StartNatsClusterOptions extends Pick<
  StartNatsServerOptions,
  'fileStoreMaxBytes' | 'memoryStoreMaxBytes' | 'executable'
> {
  /** Each server has a folder of its own below it. */
  readonly storeDir: string;
}

/** Three nats-servers on loopback that hold streams of three replicas together. */
export interface NatsCluster {
  /** The servers; another object in the place of one that was started again. */
  readonly servers: readonly NatsServer[];
  /** Addresses of all, with commas between. */
  readonly url: string;
  /** Starts the server of that place again, on its own ports and store, after it has ended. */
  startAgain(place: number): Promise<void>;
  /** SIGKILL to all. Also those that were stopped by a signal end. */
  kill(): Promise<void>;
}

const SERVERS = 3;
const LOOPBACK = '127.0.0.1';
const READY_DEADLINE_MS = 120_000;

/**
 * Starts three servers and waits until they have a leader and are healthy. A port between them that somebody takes
 * meanwhile fails the start.
 *
 * @throws as `startNatsServer` does; then none of them runs
 */
export const startNatsCluster = async (options: StartNatsClusterOptions): Promise<NatsCluster> => {
  const { storeDir, ...limits } = options;
  const reserved = await allocatePorts(SERVERS);
  const peerPorts = reserved.ports;
  await reserved.release();
  const start = (place: number, before?: NatsServer): Promise<NatsServer> =>
    startNatsServer({
      ...limits,
      storeDir: join(storeDir, `server-${String(place)}`),
      port: before?.port ?? 'auto',
      httpPort: before?.httpPort ?? 'auto',
      readyDeadlineMs: READY_DEADLINE_MS,
      peers: {
        name: `server-${String(place)}`,
        listener: { host: LOOPBACK, port: peerPorts[place] ?? 0 },
        address: peerAddress(peerPorts[place]),
        addresses: peerPorts.map(peerAddress),
        tls: null,
      },
    });
  const servers = await startAll((place) => start(place));
  return {
    servers,
    url: servers.map(({ url }) => url).join(','),
    startAgain: async (place) => {
      servers[place] = await start(place, servers[place]);
    },
    kill: async () => {
      await Promise.all(servers.map((server) => server.kill()));
    },
  };
};

const peerAddress = (port = 0): string => `${LOOPBACK}:${String(port)}`;

const startAll = async (start: (place: number) => Promise<NatsServer>): Promise<NatsServer[]> => {
  const started = await Promise.allSettled(Array.from({ length: SERVERS }, (_, place) => start(place)));
  const servers = started.filter((each) => each.status === 'fulfilled').map(({ value }) => value);
  const failed = started.find((each) => each.status === 'rejected');
  if (failed === undefined) return servers;
  await Promise.all(servers.map((server) => server.kill()));
  throw failed.reason;
};
