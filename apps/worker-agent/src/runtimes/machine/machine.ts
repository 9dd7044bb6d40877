import { cpus, totalmem } from 'node:os';
import { cleanText, type HostGpu, type Inventory, type WorkerId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { DeviceRequest } from '../container-runtime.port.js';
import { RuntimeError } from '../runtime-error.js';
import { allocateGpus } from './allocate-gpus.js';
import { readDiskRoom, type DiskRoom } from './disk-room.js';
import { gpuName, type MachineGpus } from './gpu-device.js';
import { heldOf, type HeldGpus } from './held-gpus.js';
import { MachineCards, type MachineCardsOptions } from './machine-cards.js';
import { USUAL_RESERVE, reservedDisk, reservedMemory, type Reserve } from './reserve.js';

export interface MachineOptions extends MachineCardsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Folder on the file system whose room workers use. */
  readonly diskFolder: string;
  /** File in which the agent's next life finds how much room there was; absent: none looks. */
  readonly diskRecord?: string;
  /** Null: the machine's own. */
  readonly vcpus: number | null;
  /** GPUs that are reported and given out, but that no device stands behind; null: the machine's own. */
  readonly simulatedGpus: MachineGpus | null;
  /** Absent: the usual share. */
  readonly reserve?: Reserve;
}

/** How much there is for everything that runs on a machine. */
export interface MachineSize {
  readonly cores: number;
  readonly memoryBytes: number;
}

/** What the runtime adds of its own. */
export interface SeenByRuntime extends Pick<Inventory, 'images' | 'runtime'> {
  /** Of the machine that workers run on; absent: they share what this process has. */
  readonly size?: MachineSize;
}

/** They only let placement prefer a host, and every report carries them. */
const IMAGES_MAX = 1_000;
const IMAGE_CHARACTERS_MAX = 512;

/** The machine whose containers a runtime starts itself: what it has, and which worker holds which of its GPUs. */
export class Machine {
  readonly #options: MachineOptions;
  readonly #cards: MachineCards;
  /** Names of GPUs. A worker keeps those that it holds even when the machine does not name them any more. */
  readonly #held = new Map<WorkerId, readonly string[]>();
  #disk: DiskRoom | null = null;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#cards = new MachineCards(options);
  }

  async inventory({ images, runtime, size = ownSize() }: SeenByRuntime): Promise<Inventory> {
    const { reserve = USUAL_RESERVE, simulatedGpus } = this.#options;
    const names = images.slice(0, IMAGES_MAX).map((name) => cleanText(name, IMAGE_CHARACTERS_MAX));
    const { cores, memoryBytes: memory } = size;
    const vcpus = this.#options.vcpus ?? cores;
    const disk = (this.#disk ??= await this.#readDisk());
    const { cudaVersion, gpus } = await this.#cards.look();
    return {
      ...{ vcpus, isOvercommitted: vcpus > cores, memoryBytes: memory - reservedMemory(memory, reserve) },
      diskBytes: Math.max(0, disk.freeBytes - reservedDisk(disk.totalBytes, reserve)),
      ...{ gpus: gpus.map(reported), areGpusSimulated: simulatedGpus !== null, cudaVersion },
      ...{ runtime, images: names },
    };
  }

  /**
   * Gives a worker the GPUs that it asks for, until `releaseGpus`; by the last inventory, for a driver may be slow.
   * @throws RuntimeError `no-such-device`: too few of the type are free
   */
  async takeGpus(workerId: WorkerId, gpu: DeviceRequest | null): Promise<HeldGpus> {
    const { gpus } = await this.#cards.known();
    const allocation = allocateGpus(gpus, this.#held, { workerId, gpu });
    if (allocation.kind === 'refused') throw new RuntimeError('no-such-device', allocation.detail);
    this.#held.set(workerId, allocation.gpus.map(gpuName));
    return heldOf(allocation.gpus, this.#cards.makers);
  }

  /** The driver's highest, by the last look; null without GPU. */
  async cudaVersion(): Promise<string | null> {
    return (await this.#cards.known()).cudaVersion;
  }

  /** Notes what a container holds that an earlier life of the agent started. */
  adoptGpus(workerId: WorkerId, names: readonly string[]): void {
    this.#held.set(workerId, names);
  }

  releaseGpus(workerId: WorkerId): void {
    this.#held.delete(workerId);
  }

  /** What a worker should know of the GPUs that it holds, one sentence each: those that are gone. */
  notesOn(workerId: WorkerId): readonly string[] {
    const lost = (this.#held.get(workerId) ?? []).filter((name) => this.#cards.isLost(name));
    return lost.map(
      (name) => `GPU ${name}, which the worker holds, is gone: the host's driver does not name it any more.`,
    );
  }

  #readDisk(): Promise<DiskRoom> {
    const { diskFolder: folder, diskRecord: record, logger } = this.#options;
    return readDiskRoom({
      folder,
      logger,
      hasWorkers: this.#held.size > 0,
      ...(record === undefined ? {} : { record }),
    });
  }
}

const reported = ({ index, memoryBytes: size, typeId, uuid }: HostGpu): HostGpu => ({
  index,
  ...(uuid === undefined ? {} : { uuid }),
  typeId,
  memoryBytes: size,
});

/** A control group may give this process, and what it starts, less memory than the machine has. */
function ownSize(): MachineSize {
  const limit = process.constrainedMemory();
  return { cores: cpus().length, memoryBytes: limit > 0 && limit < totalmem() ? limit : totalmem() };
}
