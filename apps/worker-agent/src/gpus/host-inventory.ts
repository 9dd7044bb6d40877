import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { promisify } from 'node:util';
import { cleanText, type Inventory } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { parseDriverCudaVersion, parseGpuList } from './parse-nvidia-smi.js';
import type { SimulatedGpus } from './simulated-gpus.js';

export interface InventoryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly runtime: Inventory['runtime'];
  /** Folder on the file system whose room workers use. */
  readonly diskFolder: string;
  /** Null: the machine's own. */
  readonly vcpus: number | null;
  /** Null: the machine's own. */
  readonly simulatedGpus: SimulatedGpus | null;
  /** Images that could be started now. */
  readonly images: () => Promise<readonly string[]>;
  /** Runs `nvidia-smi`; null where there is none. */
  readonly nvidiaSmi?: (args: readonly string[]) => Promise<string | null>;
}

type Machine = Omit<Inventory, 'images'>;

const REFRESH_MS = 60_000;
const NVIDIA_SMI_TIMEOUT_MS = 20_000;
/** They only let placement prefer a host, and every report carries them. */
const IMAGES_MAX = 1_000;
const IMAGE_CHARACTERS_MAX = 512;

/** What this machine has. Devices come and go rarely, so they are looked at once a minute; images every time. */
export class HostInventory {
  readonly #options: InventoryOptions;
  #machine: { readonly value: Machine; readonly readAtMs: number } | null = null;
  /** Room at the start: what workers take later is subtracted by who places them, and must not be subtracted twice. */
  #diskBytes: number | null = null;

  constructor(options: InventoryOptions) {
    this.#options = options;
  }

  async read(): Promise<Inventory> {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#machine === null || nowMs - this.#machine.readAtMs > REFRESH_MS) {
      this.#machine = { value: await this.#readMachine(), readAtMs: nowMs };
    }
    const images = (await this.#options.images()).slice(0, IMAGES_MAX);
    return { ...this.#machine.value, images: images.map((name) => cleanText(name, IMAGE_CHARACTERS_MAX)) };
  }

  async #readMachine(): Promise<Machine> {
    const { simulatedGpus, runtime, diskFolder } = this.#options;
    const cores = cpus().length;
    const vcpus = this.#options.vcpus ?? cores;
    this.#diskBytes ??= await freeBytes(diskFolder);
    const { gpus, cudaVersion } = simulatedGpus ?? (await this.#readGpus());
    return {
      vcpus,
      isOvercommitted: vcpus > cores,
      memoryBytes: memoryBytes(),
      diskBytes: this.#diskBytes,
      gpus,
      areGpusSimulated: simulatedGpus !== null,
      cudaVersion,
      runtime,
    };
  }

  async #readGpus(): Promise<SimulatedGpus> {
    const ask = this.#options.nvidiaSmi ?? runNvidiaSmi;
    try {
      const list = await ask(['--query-gpu=index,name,memory.total', '--format=csv,noheader,nounits']);
      const gpus = list === null ? [] : parseGpuList(list);
      if (gpus.length === 0) return { gpus, cudaVersion: null };
      return { gpus, cudaVersion: parseDriverCudaVersion((await ask([])) ?? '') };
    } catch (error) {
      this.#options.logger.warn('nvidia-smi failed; this host reports no GPU', { error });
      return { gpus: [], cudaVersion: null };
    }
  }
}

async function runNvidiaSmi(args: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('nvidia-smi', [...args], { timeout: NVIDIA_SMI_TIMEOUT_MS });
    return stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
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
