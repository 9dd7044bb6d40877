import { statfs } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { cleanText, type Inventory, type WorkerId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { DeviceRequest } from '../container-runtime.port.js';
import { RuntimeError } from '../runtime-error.js';
import { allocateGpus } from './allocate-gpus.js';
import { readNvidiaGpus, runNvidiaSmi, type MachineGpus, type NvidiaSmi } from './nvidia-gpus.js';

export interface MachineOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Folder on the file system whose room workers use. */
  readonly diskFolder: string;
  /** Null: the machine's own. */
  readonly vcpus: number | null;
  /** GPUs that are reported and given out, but that no device stands behind; null: the machine's own. */
  readonly simulatedGpus: MachineGpus | null;
  readonly nvidiaSmi?: NvidiaSmi;
}

type Hardware = Omit<Inventory, 'images' | 'runtime'>;

/** The GPUs that one worker holds. */
export interface HeldGpus {
  readonly indexes: readonly number[];
  /** False where GPUs are simulated, and where there are none. */
  readonly areReal: boolean;
}

const REFRESH_MS = 60_000;
/** They only let placement prefer a host, and every report carries them. */
const IMAGES_MAX = 1_000;
const IMAGE_CHARACTERS_MAX = 512;

/** The machine whose containers a runtime starts itself: what it has, and which worker holds which of its GPUs. */
export class Machine {
  readonly #options: MachineOptions;
  /** A worker keeps the GPUs that it holds even when the machine does not name them any more. */
  readonly #held = new Map<WorkerId, readonly number[]>();
  #hardware: { readonly value: Hardware; readonly readAtMs: number } | null = null;
  /** Room at the start: what workers take later is subtracted by who places them, and must not be subtracted twice. */
  #diskBytes: number | null = null;
  /** Stays true when the driver is silent later: a worker without GPU must not see those that come back. */
  #hadRealGpus = false;

  constructor(options: MachineOptions) {
    this.#options = options;
  }

  async inventory({ images, runtime }: Pick<Inventory, 'images' | 'runtime'>): Promise<Inventory> {
    const names = images.slice(0, IMAGES_MAX).map((name) => cleanText(name, IMAGE_CHARACTERS_MAX));
    return { ...(await this.#current()), runtime, images: names };
  }

  /**
   * Gives a worker the GPUs that it asks for, until `releaseGpus`; by the last inventory, for a driver may be slow.
   * @throws RuntimeError `no-such-device`: too few of the type are free
   */
  async takeGpus(workerId: WorkerId, gpu: DeviceRequest | null): Promise<HeldGpus> {
    const { gpus } = this.#hardware?.value ?? (await this.#current());
    const allocation = allocateGpus(gpus, this.#held, { workerId, gpu });
    if (allocation.kind === 'refused') throw new RuntimeError('no-such-device', allocation.detail);
    this.#held.set(workerId, allocation.indexes);
    return { indexes: allocation.indexes, areReal: this.#hadRealGpus };
  }

  /** Notes what a container holds that an earlier life of the agent started. */
  adoptGpus(workerId: WorkerId, indexes: readonly number[]): void {
    this.#held.set(workerId, indexes);
  }

  releaseGpus(workerId: WorkerId): void {
    this.#held.delete(workerId);
  }

  /** Devices come and go rarely, so they are looked at once a minute. */
  async #current(): Promise<Hardware> {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#hardware === null || nowMs - this.#hardware.readAtMs > REFRESH_MS) {
      this.#hardware = { value: await this.#read(), readAtMs: nowMs };
    }
    return this.#hardware.value;
  }

  async #read(): Promise<Hardware> {
    const { diskFolder, logger, nvidiaSmi = runNvidiaSmi, simulatedGpus } = this.#options;
    const cores = cpus().length;
    const vcpus = this.#options.vcpus ?? cores;
    this.#diskBytes ??= await freeBytes(diskFolder);
    const { gpus, cudaVersion } = simulatedGpus ?? (await readNvidiaGpus(nvidiaSmi, logger));
    const areGpusSimulated = simulatedGpus !== null;
    this.#hadRealGpus ||= gpus.length > 0 && !areGpusSimulated;
    return {
      ...{ vcpus, isOvercommitted: vcpus > cores, memoryBytes: memoryBytes(), diskBytes: this.#diskBytes },
      ...{ gpus, areGpusSimulated, cudaVersion },
    };
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** A control group may give this agent less than the machine has. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}
