import { access, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pollUntil } from '../poll-until.js';
import { stopLeftover } from '../processes/pid-file.js';
import { runCommand } from '../processes/run-command.js';
import { spawnServer } from '../processes/server-process.js';
import { clusterScriptsFolder } from '../repository.js';

export interface StartClusterOptions {
  /** All that belongs to it is below it, and goes with it. Made when missing. */
  readonly folder: string;
  /** True: images, and what containers write, are in memory where there is enough of it; it counts as the containers' own. */
  readonly isInMemory?: boolean;
  /** The first one on a machine has its programs built, and each waits for its turn. */
  readonly readyDeadlineMs?: number;
}

/** A real Kubernetes of one node; one at a time on a machine. */
export interface Cluster {
  /** File for `KUBECONFIG`: of an administrator. */
  readonly kubeconfig: string;
  readonly nodeName: string;
  /** This machine, as Pods see it. */
  readonly machineAddress: string;
  /** Runs kubectl as an administrator. @throws CommandError */
  kubectl(...words: readonly string[]): Promise<string>;
  /** Puts an archive of images, as `docker save` makes it, into the node. */
  loadImage(archive: string): Promise<void>;
  /** Makes an image of one layer of a folder, or of an archive of one, and puts it into the node. */
  makeImage(name: string, root: string, config: ImageConfig): Promise<void>;
  /** Leaves nothing of it. */
  stop(): Promise<void>;
}

/** As the specification of images has it. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
}

const READY_DEADLINE_DEFAULT_MS = 30 * 60_000;
const STOP_DEADLINE_MS = 120_000;
const CALL_MS = 120_000;
/** As `tools/kubernetes/settings.sh` has them. */
const NODE_NAME = 'node1';
const MACHINE_ADDRESS = '10.199.0.1';

/**
 * Starts a cluster and waits until Pods can be started. Needs root and what `install-packages.sh` installs.
 *
 * @throws ServerStartError with the end of the log, DeadlineError
 */
export const startCluster = async (options: StartClusterOptions): Promise<Cluster> => {
  const folder = resolve(options.folder);
  await mkdir(folder, { recursive: true });
  const script = (name: string): string => join(clusterScriptsFolder, name);
  const pidFile = join(folder, 'hold.pid');
  await stopLeftover(pidFile, { deadlineMs: STOP_DEADLINE_MS });
  const state = join(folder, 'cluster');
  const server = await spawnServer({
    name: 'cluster',
    executable: script('hold.sh'),
    args: options.isInMemory === true ? [state, '--in-memory'] : [state],
    folder,
    logFile: join(folder, 'hold.log'),
    pidFile,
    stopSignal: 'SIGTERM',
  });
  const look = async (): Promise<true | undefined> => {
    if (!server.isRunning) throw await server.startError();
    return access(join(state, 'ready')).then(
      () => true,
      () => undefined,
    );
  };
  try {
    await pollUntil(look, { what: 'the cluster', deadlineMs: options.readyDeadlineMs ?? READY_DEADLINE_DEFAULT_MS });
  } catch (error) {
    await server.stop(STOP_DEADLINE_MS);
    throw error;
  }
  const run = (name: string, ...words: readonly string[]): Promise<string> =>
    runCommand(name, words, { timeoutMs: CALL_MS });
  const programs = (await run(script('build.sh'))).trim();
  const kubeconfig = join(state, 'admin.conf');
  const loadImage = async (archive: string): Promise<void> => {
    await run(script('load-image.sh'), state, archive);
  };
  return {
    ...{ kubeconfig, nodeName: NODE_NAME, machineAddress: MACHINE_ADDRESS, loadImage },
    kubectl: (...words) => run(join(programs, 'kubectl'), '--kubeconfig', kubeconfig, ...words),
    makeImage: async (name, root, config) => {
      const archive = join(folder, 'image.tar');
      await run(script('image.sh'), archive, name, root, JSON.stringify(config));
      await loadImage(archive);
    },
    stop: async () => {
      await server.stop(STOP_DEADLINE_MS);
    },
  };
};
