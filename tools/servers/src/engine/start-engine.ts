import { mkdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join, resolve } from 'node:path';
import { machineEnvironment } from '../config.js';
import { engineScriptsFolder } from '../repository.js';
import { pollUntil } from '../poll-until.js';
import { stopLeftover } from '../processes/pid-file.js';
import { CommandError, runCommand } from '../processes/run-command.js';
import { spawnServer, type ServerExit } from '../processes/server-process.js';

export interface StartEngineOptions {
  /** Socket, images, log and pid file are below it. Made when missing; the images are kept on stop. */
  readonly folder: string;
  /** True: images and volumes are in memory where there is enough of it, and gone on stop. */
  readonly isInMemory?: boolean;
  readonly readyDeadlineMs?: number;
}

/** A container engine that shares nothing with others on the machine. */
export interface ContainerEngine {
  /** Value for `DOCKER_HOST`: `unix:///…/docker.sock`. */
  readonly host: string;
  readonly socketPath: string;
  readonly pid: number;
  readonly logFile: string;
  readonly exited: Promise<ServerExit>;
  /** Makes `berth/python-base:bookworm` there; a minute the first time on a machine, seconds later. */
  loadBaseImage(): Promise<void>;
  /** Builds the Dockerfile of a folder with this machine's way to the package indexes, and more build arguments. */
  buildImage(tag: string, folder: string, buildArguments?: Readonly<Record<string, string>>): Promise<void>;
  /** Removes containers, networks and all else it made on the machine; only the images in its folder stay. */
  stop(): Promise<void>;
}

/** Image that `loadBaseImage` makes. */
export const BASE_IMAGE = 'berth/python-base:bookworm';

const READY_DEADLINE_DEFAULT_MS = 30_000;
const STOP_DEADLINE_MS = 60_000;
const ASK_MS = 10_000;
const BUILD_MS = 600_000;

/** Why no engine can be started here; `undefined` when it can. */
export const whyNoEngine = async (): Promise<string | undefined> => {
  try {
    await runScript('engine-available.sh', [], { timeoutMs: ASK_MS });
    return undefined;
  } catch (error) {
    if (error instanceof CommandError) return error.message;
    throw error;
  }
};

/**
 * Starts a private container engine and waits until it answers. Needs root and what `install-engine.sh` installs.
 *
 * @throws ServerStartError with the end of the log, DeadlineError
 */
export const startEngine = async (options: StartEngineOptions): Promise<ContainerEngine> => {
  const folder = resolve(options.folder);
  await mkdir(folder, { recursive: true });
  const pidFile = join(folder, 'engine.pid');
  await stopLeftover(pidFile, { deadlineMs: STOP_DEADLINE_MS });
  const server = await spawnServer({
    name: 'container engine',
    executable: join(engineScriptsFolder, 'start-engine.sh'),
    args: options.isInMemory === true ? [folder, '--in-memory'] : [folder],
    folder,
    logFile: join(folder, 'dockerd.log'),
    pidFile,
    stopSignal: 'SIGTERM',
  });
  const socketPath = join(folder, 'docker.sock');
  const host = `unix://${socketPath}`;
  const look = async (): Promise<true | undefined> => {
    if (!server.isRunning) throw await server.startError();
    return (await answers(socketPath)) ? true : undefined;
  };
  try {
    await pollUntil(look, {
      what: 'the container engine',
      deadlineMs: options.readyDeadlineMs ?? READY_DEADLINE_DEFAULT_MS,
    });
  } catch (error) {
    await server.stop(STOP_DEADLINE_MS);
    throw error;
  }
  const inEngine = { timeoutMs: BUILD_MS, env: { ...machineEnvironment.variables, DOCKER_HOST: host } };
  return {
    host,
    socketPath,
    pid: server.pid,
    logFile: join(folder, 'dockerd.log'),
    exited: server.exited,
    loadBaseImage: async () => {
      await runScript('base-image.sh', [], inEngine);
    },
    buildImage: async (tag, context, buildArguments = {}) => {
      const more = Object.entries(buildArguments).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
      await runScript('build-image.sh', [tag, resolve(context), '--quiet', ...more], inEngine);
    },
    stop: async () => {
      await server.stop(STOP_DEADLINE_MS);
    },
  };
};

const runScript = (name: string, args: readonly string[], options: Parameters<typeof runCommand>[2]): Promise<string> =>
  runCommand(join(engineScriptsFolder, name), args, options);

const PING_MS = 2_000;

const answers = (socketPath: string): Promise<boolean> =>
  new Promise((resolved) => {
    const ask = request({ socketPath, path: '/_ping', timeout: PING_MS }, (answer) => {
      answer.resume();
      resolved(answer.statusCode === 200);
    });
    ask.on('timeout', () => ask.destroy());
    // No socket, or nobody behind it: not there yet.
    ask.on('error', () => {
      resolved(false);
    });
    ask.end();
  });
