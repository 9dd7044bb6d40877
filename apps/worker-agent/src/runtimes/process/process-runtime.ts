import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Inventory, WorkerId } from '@berth/domain';
import { inParallel, isAlive, type Clock, type Random } from '@berth/lifecycle';
import {
  PRINTED_LINES_MAX,
  type CallOptions,
  type ContainerRuntime,
  type ContainerStart,
  type ImageRequest,
  type OwnedContainer,
  type PrepareOptions,
  type PrintedBatch,
} from '../container-runtime.port.js';
import type { Machine } from '../machine/machine.js';
import { RuntimeError, throwIfCancelled } from '../runtime-error.js';
import { attempt, fromSystemError } from '../system-error.js';
import { followOutput } from './follow-output.js';
import { findImageFolder, listImages, type ImageFolder } from './image-folder.js';
import { MARK_VARIABLE, launchEnvironment, type Launch } from './launch-environment.js';
import { launchFailureOf } from './launch-failure.js';
import { LAUNCH_SCRIPT } from './launch-script.js';
import { MarkedProcesses } from './marked-processes.js';
import { ProcessFreezer } from './process-freezer.js';
import { killGroup, killProcess } from './process-group.js';
import { ADDRESS, notesOn, volumeOf } from './process-notes.js';
import { runSetup } from './run-setup.js';
import {
  WorkerFolder,
  createWorkerFolder,
  heldNames,
  listWorkerFolders,
  removeLeftovers,
  stateOf,
} from './worker-folder.js';
import { makeWorkingCopy } from './working-copy.js';

export interface ProcessRuntimeOptions {
  /** Where the folders of started workers lie; an agent has one of its own. */
  readonly workersFolder: string;
  /** Where the images lie. */
  readonly imagesFolder: string;
  readonly machine: Machine;
  readonly clock: Clock;
  readonly random: Random;
  /** What every worker gets of the agent's environment, no more: PATH and LANG. */
  readonly environment: Readonly<Record<string, string>>;
  /** The setups' environment: the operator's own, with the settings of package managers. */
  readonly setupEnvironment: Readonly<Record<string, string>>;
  readonly setupTimeoutMs?: number;
  readonly logMaxBytes?: number;
}

const SETUP_TIMEOUT_MS = 15 * 60_000;
const LOG_MAX_BYTES = 10 * 1024 * 1024;
const TICK_MS = 1_000;
const POLL_MS = 5;
const LAUNCH_MAX_MS = 10_000;
const REMOVE_MAX_MS = 10_000;
const ID_LENGTH = 20;
const FOLDERS_AT_ONCE = 32;

/**
 * Workers as plain child processes, for trying Berth on a machine without a container engine.
 *
 * NEVER FOR TENANTS: nothing keeps such a worker from the machine's files, network and other processes, and CPU, memory
 * and disk limits are not enforced.
 *
 * Workers run in sessions of their own and outlive the agent; another instance on the same folder finds them again.
 */
export class ProcessRuntime implements ContainerRuntime {
  readonly freezer: ProcessFreezer;
  readonly sharesPorts = true;
  readonly #options: ProcessRuntimeOptions;
  readonly #listeners = new Set<() => void>();
  readonly #stopTicking: () => void;
  readonly #marked = new MarkedProcesses(MARK_VARIABLE);

  private constructor(options: ProcessRuntimeOptions) {
    this.#options = options;
    this.freezer = new ProcessFreezer((workerId) => this.#folder(workerId), options.clock);
    this.#stopTicking = options.clock.every(TICK_MS, () => void this.#rotateLogs());
  }

  static async open(options: ProcessRuntimeOptions): Promise<ProcessRuntime> {
    await mkdir(options.workersFolder, { recursive: true, mode: 0o700 });
    await removeLeftovers(options.workersFolder);
    const runtime = new ProcessRuntime(options);
    await runtime.#adoptGpus();
    return runtime;
  }

  async inventory(_options: CallOptions = {}): Promise<Inventory> {
    const images = await listImages(this.#options.imagesFolder);
    return { ...(await this.#options.machine.inventory({ runtime: 'process', images })), canPause: true };
  }

  async prepare({ image }: ImageRequest, options: PrepareOptions = {}): Promise<void> {
    throwIfCancelled(options.signal);
    const { clock, random, setupEnvironment, setupTimeoutMs } = this.#options;
    const found = await findImageFolder(this.#options.imagesFolder, image);
    try {
      await runSetup(found, {
        clock,
        random,
        environment: setupEnvironment,
        timeoutMs: setupTimeoutMs ?? SETUP_TIMEOUT_MS,
        signal: options.signal,
        onProgress: options.onProgress ?? ((): void => undefined),
      });
    } catch (error) {
      throw fromSystemError(error, 'setup-failed', `Image ${image} could not be set up`);
    }
  }

  async start(start: ContainerStart, { signal }: CallOptions = {}): Promise<OwnedContainer> {
    const { workerId } = start.labels;
    const present = await this.inspect(workerId);
    if (present?.state.kind === 'running' || present?.state.kind === 'paused') return present;
    await this.remove(workerId, signal === undefined ? {} : { signal });
    const image = await findImageFolder(this.#options.imagesFolder, start.labels.image);
    const { clock, machine, random, workersFolder } = this.#options;
    try {
      const gpus = await machine.takeGpus(workerId, start.gpu);
      const life = { containerId: random.id(ID_LENGTH), labels: start.labels, startedAtMs: clock.nowMs() };
      const folder = await createWorkerFolder(
        workersFolder,
        { ...life, gpus: gpus.names, ...volumeOf(start) },
        (draft) => makeWorkingCopy(image.folder, draft.work, signal),
      );
      const cudaVersion = start.gpu && (await machine.cudaVersion());
      const launch = { ...start, gpus, cudaVersion };
      throwIfCancelled(signal);
      await this.#launch(folder, image, launch);
      return { ...life, state: { kind: 'running' }, address: ADDRESS, notes: notesOn(start) };
    } catch (error) {
      // Why it did not start is the news; what of it cannot be removed keeps its GPUs, and the next start replaces it.
      await this.remove(workerId).catch(() => undefined);
      throw fromSystemError(error, 'start-failed', `Worker ${workerId} could not be started`);
    }
  }

  async inspect(workerId: WorkerId, _options: CallOptions = {}): Promise<OwnedContainer | null> {
    return attempt(`Worker ${workerId} cannot be seen`, () => this.#describe(this.#folder(workerId)));
  }

  async list(_options: CallOptions = {}): Promise<readonly OwnedContainer[]> {
    return attempt('The workers cannot be listed', async () => {
      const folders = await listWorkerFolders(this.#options.workersFolder);
      const containers = await inParallel(folders, FOLDERS_AT_ONCE, (folder) => this.#describe(folder));
      return containers.filter((container) => container !== null);
    });
  }

  async stop(workerId: WorkerId, _graceMs: number, _options: CallOptions = {}): Promise<void> {
    await attempt(`Worker ${workerId} cannot be ended`, async () => {
      await this.freezer.resume(workerId);
      const identity = await this.#folder(workerId).identity();
      if (identity !== null && (await isAlive(identity))) killProcess(identity.pid, 'SIGTERM');
    });
  }

  async kill(workerId: WorkerId, _options: CallOptions = {}): Promise<void> {
    await attempt(`Worker ${workerId} cannot be ended`, () => this.#killGroup(this.#folder(workerId)));
  }

  async remove(workerId: WorkerId, { signal }: CallOptions = {}): Promise<void> {
    await attempt(`Worker ${workerId} cannot be removed`, () => this.#remove(workerId, signal));
    this.#options.machine.releaseGpus(workerId);
  }

  async logs(workerId: WorkerId, lines: number, _options: CallOptions = {}): Promise<readonly string[]> {
    const tail = Math.min(lines, PRINTED_LINES_MAX);
    return attempt(`The log of worker ${workerId} cannot be read`, () => this.#folder(workerId).logTail(tail));
  }

  follow(workerId: WorkerId, position: string | null, signal: AbortSignal): AsyncIterable<PrintedBatch> {
    return followOutput(position, { folder: this.#folder(workerId), clock: this.#options.clock, signal });
  }

  watch(onChange: () => void): () => void {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  }

  async close(): Promise<void> {
    this.#stopTicking();
    this.#listeners.clear();
  }

  #folder(workerId: WorkerId): WorkerFolder {
    return new WorkerFolder(join(this.#options.workersFolder, workerId));
  }

  async #describe(folder: WorkerFolder): Promise<OwnedContainer | null> {
    const file = await folder.labels();
    if (file === null) return null;
    const { containerId, labels, startedAtMs } = file;
    const state = await stateOf(folder);
    const notes = [...notesOn(file), ...this.#options.machine.notesOn(labels.workerId)];
    const own = { containerId, labels, address: ADDRESS, notes };
    return { ...own, state, startedAtMs: state.kind === 'created' ? null : startedAtMs };
  }

  async #adoptGpus(): Promise<void> {
    for (const folder of await listWorkerFolders(this.#options.workersFolder)) {
      const file = await folder.labels();
      if (file !== null) this.#options.machine.adoptGpus(file.labels.workerId, heldNames(file));
    }
  }

  async #launch(folder: WorkerFolder, image: ImageFolder, start: Launch): Promise<void> {
    const child = spawn(
      '/bin/sh',
      ['-c', LAUNCH_SCRIPT, 'berth-worker', folder.path, ...image.command, ...start.args],
      {
        cwd: folder.work,
        env: launchEnvironment(start, folder, this.#options.environment),
        stdio: 'ignore',
        detached: true,
      },
    );
    child.unref();
    const failure = launchFailureOf(child);
    child.on('exit', () => {
      for (const listener of this.#listeners) listener();
    });
    const { clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + LAUNCH_MAX_MS;
    while ((await folder.identity()) === null) {
      const why = failure() ?? (clock.monotonicMs() > deadlineMs ? 'it did not come up' : null);
      if (why !== null) throw new RuntimeError('start-failed', `Worker ${start.labels.workerId} not started: ${why}.`);
      await clock.sleep(POLL_MS);
    }
  }

  async #remove(workerId: WorkerId, signal: AbortSignal | undefined): Promise<void> {
    const folder = this.#folder(workerId);
    const { clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + REMOVE_MAX_MS;
    while (await this.#killAll(folder)) {
      throwIfCancelled(signal);
      if (clock.monotonicMs() > deadlineMs) {
        throw new RuntimeError('runtime-unavailable', `Processes of worker ${workerId} do not end.`);
      }
      await clock.sleep(POLL_MS, signal);
    }
    await folder.remove();
  }

  /** True when there was something to kill. */
  async #killGroup(folder: WorkerFolder): Promise<boolean> {
    const identity = await folder.identity();
    if (identity === null || !(await isAlive(identity))) return false;
    await folder.noteKill();
    killGroup(identity.pid, 'SIGKILL');
    return true;
  }

  /** The group, and what has left it. True when something was still there. */
  async #killAll(folder: WorkerFolder): Promise<boolean> {
    // Nothing was started of a worker that has no folder, and most removals are of those: one goes before each start.
    if ((await folder.labels()) === null) return false;
    const isLeaderAlive = await this.#killGroup(folder);
    const strays = await this.#marked.of(folder.path);
    for (const pid of strays) killProcess(pid, 'SIGKILL');
    return isLeaderAlive || strays.length > 0;
  }

  async #rotateLogs(): Promise<void> {
    for (const folder of await listWorkerFolders(this.#options.workersFolder)) {
      // A worker may be removed meanwhile; a full disk shows where the log is needed, not here.
      await folder.rotateLog(this.#options.logMaxBytes ?? LOG_MAX_BYTES).catch(() => undefined);
    }
  }
}
