import type { Inventory, WorkerId } from '@berth/domain';
import Dockerode, { type Container, type ContainerInfo } from 'dockerode';
import type {
  CallOptions,
  ContainerRuntime,
  ContainerStart,
  ImageRequest,
  OwnedContainer,
  PrepareOptions,
  PrintedBatch,
} from '../container-runtime.port.js';
import { RuntimeError, throwIfCancelled } from '../runtime-error.js';
import type { Machine, MachineSize } from '../machine/machine.js';
import { ask, askUnless } from './ask-engine.js';
import { ConfinedNetwork, type ConfinedNetworkOptions } from './confinement/confined-network.js';
import { ownedOf } from './container-look.js';
import { ContainerMaker } from './container-maker.js';
import { HOST_LABEL, containerName, fromEngineLabels, gpuNamesOf } from './container-options.js';
import { DockerFreezer } from './docker-freezer.js';
import type { EngineAccess } from './engine-access.js';
import { fromEngineError, fromStartError } from './engine-errors.js';
import { followEvents } from './engine-events.js';
import { followContainer } from './follow-container.js';
import { lastLines } from './log-frames.js';
import { ImageRecords } from './images/image-records.js';
import { ImageStore } from './images/image-store.js';
import { RunningContainers } from './running-containers.js';

export interface DockerRuntimeOptions extends ConfinedNetworkOptions {
  readonly engine: EngineAccess;
  readonly machine: Machine;
  /** The agent's own folder. */
  readonly home: string;
  /** What images that it has pulled may take together; null: half of the room that there is. */
  readonly imagesBytesMax: number | null;
}

/**
 * What the engine tells of itself. Engines of one machine may share the id, because Docker 20.10 takes it from one file
 * of the machine; the folder of what they keep they never share.
 */
interface EngineInfo {
  readonly ID: string;
  readonly DockerRootDir: string;
  /** Of the machine that it runs containers on, whatever limits this process has. */
  readonly NCPU: number;
  readonly MemTotal: number;
}

/** An engine that is silent for so long is not there; what streams (pulls, events) may be silent for as long as it likes. */
const CALL_TIMEOUT_MS = 60_000;
const IMAGES_SHARE_OF_ROOM = 0.5;
const REMOVE_POLL_MS = 50;
const REMOVE_MAX_MS = 60_000;

/**
 * Workers as containers of a Docker engine, in a network of this agent's own. None is started before the network is
 * confined (`network.confine`).
 *
 * A container's disk limit is kept only where the engine's storage can: elsewhere (overlay2 on ext4) the worker carries
 * a note that says so.
 */
export class DockerRuntime implements ContainerRuntime {
  readonly freezer: DockerFreezer;
  readonly network: ConfinedNetwork;
  readonly #options: DockerRuntimeOptions;
  readonly #engine: Dockerode;
  readonly #streams: Dockerode;
  readonly #images: ImageStore;
  readonly #closing = new AbortController();
  readonly #maker: ContainerMaker;
  readonly #running = new RunningContainers();
  readonly #size: MachineSize;

  private constructor(options: DockerRuntimeOptions, { engine, network, records, size }: RuntimeParts) {
    this.#options = options;
    this.#engine = engine;
    this.#size = size;
    this.#streams = new Dockerode(options.engine.options);
    this.network = network;
    const { clock, logger } = options;
    const budgetBytes = (): Promise<number> => this.#imageBytesMax();
    this.#images = new ImageStore({ engine, streams: this.#streams, records, budgetBytes, clock, logger });
    this.#maker = new ContainerMaker({
      ...options,
      engine,
      engineName: options.engine.name,
      network,
      images: this.#images,
      cores: size.cores,
    });
    this.freezer = new DockerFreezer({ container: (id) => this.#container(id), look: (found) => this.#look(found) });
  }

  /** @throws RuntimeError `runtime-unavailable` when no engine answers */
  static async open(options: DockerRuntimeOptions): Promise<DockerRuntime> {
    const engine = new Dockerode({ ...options.engine.options, timeout: CALL_TIMEOUT_MS });
    try {
      const { ID, DockerRootDir: folder, MemTotal, NCPU } = (await engine.info()) as EngineInfo;
      const records = await ImageRecords.open(options.home);
      const network = await ConfinedNetwork.open(options, engine, `${ID} ${folder}`);
      const runtime = new DockerRuntime(options, {
        ...{ engine, network, records },
        size: { cores: NCPU, memoryBytes: MemTotal },
      });
      await runtime.#adoptGpus();
      return runtime;
    } catch (error) {
      throw fromEngineError(error, `The container engine at ${options.engine.name} cannot be used`);
    }
  }

  async inventory(_options: CallOptions = {}): Promise<Inventory> {
    const found = await ask('The images cannot be listed', () => this.#engine.listImages());
    const images = found.flatMap(({ RepoTags }) => RepoTags ?? []).filter((tag) => tag !== '<none>:<none>');
    const seen = { runtime: 'docker', images, size: this.#size } as const;
    return { ...(await this.#options.machine.inventory(seen)), canPause: true };
  }

  async prepare(request: ImageRequest, options: PrepareOptions = {}): Promise<void> {
    await this.#images.ensure(request, options);
  }

  async start(start: ContainerStart, options: CallOptions = {}): Promise<OwnedContainer> {
    const { workerId } = start.labels;
    const { signal } = options;
    const present = await this.inspect(workerId);
    if (present?.state.kind === 'running' || present?.state.kind === 'paused') return present;
    if (present === null) this.#options.machine.releaseGpus(workerId);
    else await this.remove(workerId, options);
    throwIfCancelled(signal);
    try {
      const gpus = await this.#options.machine.takeGpus(workerId, start.gpu);
      throwIfCancelled(signal);
      // Without the signal: an engine whose answer nobody heard may have made it all the same, and nobody would remove it.
      const container = await this.#maker.make(start, gpus);
      throwIfCancelled(signal);
      await container.start();
      const started = await this.inspect(workerId);
      if (started === null) throw new RuntimeError('start-failed', `Worker ${workerId} vanished while it was started.`);
      return started;
    } catch (error) {
      // Why it did not start is the news, not whether what was created could be removed: the next start replaces it.
      await this.remove(workerId).catch(() => undefined);
      throw fromStartError(error, `Worker ${workerId} could not be started`);
    }
  }

  async inspect(workerId: WorkerId, _options: CallOptions = {}): Promise<OwnedContainer | null> {
    const look = await this.#look(this.#container(workerId));
    return look === null ? null : this.#withNotes(look);
  }

  async list(_options: CallOptions = {}): Promise<readonly OwnedContainer[]> {
    const found = await this.#listed();
    const looks = await Promise.all(
      found.map(async (each) => this.#running.find(each) ?? (await this.#look(this.#engine.getContainer(each.Id)))),
    );
    const containers = looks.filter((look) => look !== null);
    this.#running.keep(containers);
    return containers.map((container) => this.#withNotes(container));
  }

  async stop(workerId: WorkerId, _graceMs: number, _options: CallOptions = {}): Promise<void> {
    await this.#signal(workerId, 'SIGTERM');
  }

  async kill(workerId: WorkerId, _options: CallOptions = {}): Promise<void> {
    await this.#signal(workerId, 'SIGKILL');
  }

  async remove(workerId: WorkerId, { signal }: CallOptions = {}): Promise<void> {
    await this.#remove(workerId, signal);
    this.#options.machine.releaseGpus(workerId);
  }

  async #remove(workerId: WorkerId, signal: AbortSignal | undefined): Promise<void> {
    const container = this.#container(workerId);
    const { clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + REMOVE_MAX_MS;
    while ((await this.#look(container)) !== null) {
      throwIfCancelled(signal);
      const what = `Worker ${workerId} cannot be removed`;
      if (clock.monotonicMs() > deadlineMs) throw new RuntimeError('runtime-unavailable', `${what}: it stays.`);
      // An engine may refuse to remove, as to kill, what is paused; where it cannot go on, the engine may do it all the same.
      await this.freezer.resume(workerId).catch(() => undefined);
      // 409: somebody removes it already.
      await askUnless([404, 409], what, () => container.remove({ force: true, v: true }));
      if ((await this.#look(container)) === null) return;
      await clock.sleep(REMOVE_POLL_MS, signal);
    }
  }

  async logs(workerId: WorkerId, lines: number, _options: CallOptions = {}): Promise<readonly string[]> {
    const container = this.#container(workerId);
    return (await this.#look(container)) === null ? [] : lastLines(container, lines);
  }

  follow(workerId: WorkerId, position: string | null, signal: AbortSignal): AsyncIterable<PrintedBatch> {
    // Over a connection without a time limit: a container may be silent for hours.
    const container = this.#streams.getContainer(containerName(workerId));
    const look = (): Promise<OwnedContainer | null> => this.#look(this.#container(workerId));
    const ends = { clock: this.#options.clock, signal: AbortSignal.any([signal, this.#closing.signal]) };
    return followContainer(position, { container, look, ...ends });
  }

  watch(onChange: () => void): () => void {
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, this.#closing.signal]);
    const { clock, hostId } = this.#options;
    const onEnd = (containerId: string): void => this.#running.noteEnd(containerId);
    void followEvents(this.#streams, { hostId, onChange, onEnd, clock, signal });
    return () => {
      ended.abort();
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.network.close();
  }

  #container(workerId: WorkerId): Container {
    return this.#engine.getContainer(containerName(workerId));
  }

  /** A GPU may go while its container runs, and the look at that one is an older one. */
  #withNotes(container: OwnedContainer): OwnedContainer {
    const notes = this.#options.machine.notesOn(container.labels.workerId);
    return notes.length === 0 ? container : { ...container, notes: [...(container.notes ?? []), ...notes] };
  }

  /** As they lie with the engine, whatever their state. */
  #listed(): Promise<readonly ContainerInfo[]> {
    const filters = { label: [`${HOST_LABEL}=${this.#options.hostId}`] };
    const listing = { all: true, filters: JSON.stringify(filters) };
    return ask('The containers cannot be listed', () => this.#engine.listContainers(listing));
  }

  async #adoptGpus(): Promise<void> {
    for (const { Labels } of await this.#listed()) {
      const workerId = fromEngineLabels(Labels)?.workerId;
      if (workerId !== undefined) this.#options.machine.adoptGpus(workerId, gpuNamesOf(Labels));
    }
  }

  async #imageBytesMax(): Promise<number> {
    const { imagesBytesMax, machine } = this.#options;
    if (imagesBytesMax !== null) return imagesBytesMax;
    const { diskBytes } = await machine.inventory({ runtime: 'docker', images: [] });
    return diskBytes * IMAGES_SHARE_OF_ROOM;
  }

  async #signal(workerId: WorkerId, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const container = this.#container(workerId);
    // What is paused hears no signal; where it cannot go on, the engine says so of the signal itself, or kills it all the same.
    await this.freezer.resume(workerId).catch(() => undefined);
    const state = (await this.#look(container))?.state.kind;
    if (state !== 'running' && state !== 'paused') return;
    // 409: it has ended meanwhile.
    await askUnless([404, 409], `Worker ${workerId} cannot be ended`, () => container.kill({ signal }));
  }

  /** Null where there is none of this host's, even under a name that would be ours. */
  async #look(container: Container): Promise<OwnedContainer | null> {
    const look = await askUnless([404], 'A container cannot be inspected', () => container.inspect());
    const owned = look === undefined ? null : ownedOf(look, this.network);
    return owned?.labels.hostId === this.#options.hostId ? owned : null;
  }
}

interface RuntimeParts {
  readonly engine: Dockerode;
  readonly network: ConfinedNetwork;
  readonly records: ImageRecords;
  readonly size: MachineSize;
}
