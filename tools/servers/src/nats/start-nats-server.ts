import { renderNatsConf, type NatsAuth, type NatsPeers, type NatsTls } from '@berth/broker-access';
import { mkdir, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stopLeftover } from '../processes/pid-file.js';
import { retryStart } from '../processes/retry-start.js';
import { spawnServer, type ServerExit, type ServerProcess } from '../processes/server-process.js';
import { pollUntil } from '../poll-until.js';
import { findNatsServer } from './find-nats-server.js';

export interface StartNatsServerOptions {
  /** Everything the server writes is below it: streams, configuration, log, pid file. Made when missing. */
  readonly storeDir: string;
  /** `auto`: any free port, picked by the server itself. Give the old one to restart under connected clients. */
  readonly port?: number | 'auto';
  /** Monitoring (`/healthz`, `/jsz`), loopback only. */
  readonly httpPort?: number | 'auto';
  readonly auth?: NatsAuth;
  /** Default: 80 % of the disk. The sum of the streams' `max_bytes` may not exceed it. */
  readonly fileStoreMaxBytes?: number;
  /** Default: 1 GiB. */
  readonly memoryStoreMaxBytes?: number;
  /** Then it is ready only when most of its peers are there. */
  readonly peers?: NatsPeers;
  /** Default: none. */
  readonly tls?: NatsTls;
  /** Default: `findNatsServer()`. */
  readonly executable?: string;
  readonly readyDeadlineMs?: number;
}

export interface NatsServer {
  /** `nats://127.0.0.1:4222` */
  readonly url: string;
  readonly port: number;
  /** `http://127.0.0.1:8222` */
  readonly httpUrl: string;
  readonly httpPort: number;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the process has ended, for whatever reason. */
  readonly exited: Promise<ServerExit>;
  /** Orderly end; the streams are kept. */
  stop(): Promise<void>;
  /** SIGKILL, as a crash would. */
  kill(): Promise<void>;
}

interface NatsPorts {
  readonly port: number;
  readonly httpPort: number;
}

const READY_DEADLINE_DEFAULT_MS = 15_000;
const MEMORY_STORE_DEFAULT_BYTES = 1024 ** 3;
const FILE_STORE_SHARE = 0.8;
const SERVER_PICKS = -1;
const LOOPBACK = '127.0.0.1';
const STOP_DEADLINE_MS = 15_000;

/**
 * Starts a nats-server with JetStream on loopback and waits until it is healthy.
 * What an earlier run left behind in the same folder is ended first.
 *
 * @throws ServerStartError with the end of the log, NatsServerMissingError, DeadlineError
 */
export const startNatsServer = async (options: StartNatsServerOptions): Promise<NatsServer> => {
  const storeDir = resolve(options.storeDir);
  await mkdir(storeDir, { recursive: true });
  const executable = options.executable ?? (await findNatsServer()).executable;
  await stopLeftover(join(storeDir, 'nats-server.pid'));
  return retryStart(() => startOnce({ ...options, storeDir, executable }));
};

const startOnce = async (options: StartNatsServerOptions & { readonly executable: string }): Promise<NatsServer> => {
  const { storeDir, executable } = options;
  await forgetPortsFiles(storeDir);
  const configFile = await writeConf(options);
  const logFile = join(storeDir, 'nats-server.log');
  const server = await spawnServer({
    name: 'nats-server',
    executable,
    args: ['--config', configFile],
    folder: storeDir,
    logFile,
    pidFile: join(storeDir, 'nats-server.pid'),
    stopSignal: 'SIGTERM',
  });
  try {
    const ports = await waitUntilReady(server, storeDir, options.readyDeadlineMs ?? READY_DEADLINE_DEFAULT_MS);
    return describe(server, ports, logFile);
  } catch (error) {
    await server.kill();
    throw error;
  }
};

const writeConf = async (options: StartNatsServerOptions): Promise<string> => {
  const { storeDir } = options;
  const path = join(storeDir, 'nats.conf');
  const conf = renderNatsConf({
    storeFolder: storeDir,
    portsFolder: storeDir,
    listener: { host: LOOPBACK, port: fixedOr(options.port, SERVER_PICKS) },
    monitor: { host: LOOPBACK, port: fixedOr(options.httpPort, SERVER_PICKS) },
    tls: options.tls ?? null,
    fileStoreMaxBytes: options.fileStoreMaxBytes ?? (await shareOfDisk(storeDir)),
    memoryStoreMaxBytes: options.memoryStoreMaxBytes ?? MEMORY_STORE_DEFAULT_BYTES,
    auth: options.auth ?? { kind: 'none' },
    ...(options.peers === undefined ? {} : { peers: options.peers }),
  });
  await writeFile(path, conf);
  return path;
};

const fixedOr = (port: number | 'auto' | undefined, otherwise: number): number =>
  port === undefined || port === 'auto' ? otherwise : port;

// Of the whole disk, not of what is free: the limit must not shrink below what a restarted server already reserved.
const shareOfDisk = async (folder: string): Promise<number> => {
  const disk = await statfs(folder);
  return Math.floor(disk.blocks * disk.bsize * FILE_STORE_SHARE);
};

const PORTS_FILE = /^nats-server_\d+\.ports$/;

const portsFiles = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => PORTS_FILE.test(name)).map((name) => join(folder, name));

/** A server that was killed leaves its ports file; the next one must not be taken for it. */
const forgetPortsFiles = async (folder: string): Promise<void> => {
  await Promise.all((await portsFiles(folder)).map((path) => rm(path, { force: true })));
};

const waitUntilReady = (server: ServerProcess, folder: string, deadlineMs: number): Promise<NatsPorts> =>
  pollUntil(
    async () => {
      if (!server.isRunning) throw await server.startError();
      const ports = await readPorts(folder);
      return ports !== undefined && (await isHealthy(ports.httpPort)) ? ports : undefined;
    },
    { what: 'a healthy nats-server', deadlineMs },
  );

const readPorts = async (folder: string): Promise<NatsPorts | undefined> => {
  const [path] = await portsFiles(folder);
  if (path === undefined) return undefined;
  const text = await readFile(path, 'utf8');
  // Created first and filled a moment later.
  if (!text.trimEnd().endsWith('}')) return undefined;
  const { nats, monitoring } = JSON.parse(text) as { nats?: string[]; monitoring?: string[] };
  const port = portIn(nats);
  const httpPort = portIn(monitoring);
  return port === undefined || httpPort === undefined ? undefined : { port, httpPort };
};

const portIn = (urls: readonly string[] | undefined): number | undefined => {
  const [url] = urls ?? [];
  return url === undefined ? undefined : Number(new URL(url).port);
};

const HEALTH_TIMEOUT_MS = 2_000;

const isHealthy = async (httpPort: number): Promise<boolean> => {
  try {
    const url = `http://127.0.0.1:${String(httpPort)}/healthz`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    await answer.text();
    return answer.ok;
  } catch {
    // Refused or silent: not yet healthy.
    return false;
  }
};

const describe = (server: ServerProcess, { port, httpPort }: NatsPorts, logFile: string): NatsServer => ({
  url: `nats://127.0.0.1:${String(port)}`,
  port,
  httpUrl: `http://127.0.0.1:${String(httpPort)}`,
  httpPort,
  pid: server.pid,
  logFile,
  exited: server.exited,
  stop: async () => {
    await server.stop(STOP_DEADLINE_MS);
  },
  kill: async () => {
    await server.kill();
  },
});
