import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { allocatePorts } from '../ports/allocate-ports.js';
import { pollUntil } from '../poll-until.js';
import { stopLeftover } from '../processes/pid-file.js';
import { retryStart } from '../processes/retry-start.js';
import { spawnServer, type ServerExit, type ServerProcess } from '../processes/server-process.js';
import { createDatabase, type CreateDatabaseOptions } from './create-database.js';
import {
  ensureCluster,
  POSTGRES_ENVIRONMENT,
  POSTGRES_USER,
  postgresFolders,
  type PostgresFolders,
} from './postgres-cluster.js';
import { clearStaleLock, readLock } from './postgres-lock.js';
import { choosePostgresOwner, type PostgresOwner } from './postgres-owner.js';
import { findPostgres } from './postgres-programs.js';

export interface StartPostgresOptions {
  /** Everything the server writes is below it: cluster, password, log, pid file. Made when missing, kept on stop. */
  readonly dataDir: string;
  /** `auto`: a free port. Give the old one to restart under connected clients. */
  readonly port?: number | 'auto';
  readonly readyDeadlineMs?: number;
}

export interface PostgresServer {
  /** Address of the database `postgres`, with the superuser's name and password. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the process has ended, for whatever reason. */
  readonly exited: Promise<ServerExit>;
  /** Makes an empty database, or a copy of another one, and returns its address. */
  createDatabase(name: string, options?: CreateDatabaseOptions): Promise<string>;
  /** Orderly end: clients are disconnected, everything is on disk. */
  stop(): Promise<void>;
  /** SIGKILL, as a crash would. The next start recovers. */
  kill(): Promise<void>;
}

interface Prepared {
  readonly folders: PostgresFolders;
  readonly owner: PostgresOwner;
  readonly program: string;
  readonly password: string;
  readonly readyDeadlineMs: number;
}

/** After a crash it syncs every file of its cluster first, which a busy disk makes long. */
const READY_DEADLINE_DEFAULT_MS = 120_000;
const STOP_DEADLINE_MS = 15_000;

/**
 * Starts a PostgreSQL 18 on loopback and waits until it accepts connections; makes its cluster at the first start.
 * Ends what an earlier run left behind in the same folder, and recovers from its crash.
 *
 * @throws ServerStartError with the end of the log, PostgresMissingError, DeadlineError
 */
export const startPostgres = async (options: StartPostgresOptions): Promise<PostgresServer> => {
  const folders = postgresFolders(resolve(options.dataDir));
  await mkdir(folders.dataDir, { recursive: true });
  const programs = findPostgres();
  const owner = await choosePostgresOwner([programs.postgres, folders.dataDir]);
  await stopLeftover(folders.pidFile, { signal: 'SIGINT' });
  const password = await ensureCluster(folders, programs, owner);
  await clearStaleLock(folders.cluster);
  const readyDeadlineMs = options.readyDeadlineMs ?? READY_DEADLINE_DEFAULT_MS;
  const prepared = { folders, owner, password, readyDeadlineMs, program: programs.postgres };
  return retryStart(async () => startOnce(prepared, await choosePort(options.port)));
};

const choosePort = async (wanted: number | 'auto' | undefined): Promise<number> => {
  if (wanted !== undefined && wanted !== 'auto') return wanted;
  const reservation = await allocatePorts(1);
  await reservation.release();
  const [port] = reservation.ports;
  if (port === undefined) throw new Error('A reservation of one port holds one port.');
  return port;
};

const startOnce = async (prepared: Prepared, port: number): Promise<PostgresServer> => {
  const { folders, owner, program, password, readyDeadlineMs } = prepared;
  const server = await spawnServer({
    name: 'postgres',
    ...owner.command(program, serverArguments(folders.cluster, port)),
    folder: folders.dataDir,
    logFile: folders.logFile,
    pidFile: folders.pidFile,
    env: POSTGRES_ENVIRONMENT,
    stopSignal: 'SIGINT',
  });
  try {
    await waitUntilReady(server, folders.cluster, readyDeadlineMs);
  } catch (error) {
    await server.kill();
    throw error;
  }
  const url = `postgres://${POSTGRES_USER}:${encodeURIComponent(password)}@127.0.0.1:${String(port)}/postgres`;
  return describe(server, { url, port, logFile: folders.logFile });
};

const serverArguments = (cluster: string, port: number): string[] => {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
  };
  return [
    '-D',
    cluster,
    '-p',
    String(port),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
};

const waitUntilReady = (server: ServerProcess, cluster: string, deadlineMs: number): Promise<true> =>
  pollUntil(
    async () => {
      if (!server.isRunning) throw await server.startError();
      const lock = await readLock(cluster);
      return lock?.pid === server.pid && lock.isReady ? true : undefined;
    },
    { what: `PostgreSQL in ${cluster} to accept connections`, deadlineMs },
  );

const describe = (server: ServerProcess, place: Pick<PostgresServer, 'url' | 'port' | 'logFile'>): PostgresServer => ({
  ...place,
  pid: server.pid,
  exited: server.exited,
  createDatabase: (name, options) => createDatabase(place.url, name, options),
  stop: async () => {
    await server.stop(STOP_DEADLINE_MS);
  },
  kill: async () => {
    await server.kill();
  },
});
