import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cleanText, gpuTypeById, type HostGpu } from '@berth/domain';
import type { Logger } from '@berth/telemetry';

export interface MachineGpus {
  readonly gpus: readonly HostGpu[];
  /** The driver's highest CUDA version, `major.minor`; null without GPU. */
  readonly cudaVersion: string | null;
}

/** Runs `nvidia-smi` and returns what it printed; null where there is none. */
export type NvidiaSmi = (args: readonly string[]) => Promise<string | null>;

const NVIDIA_SMI_TIMEOUT_MS = 20_000;
const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const NAME_CHARACTERS_MAX = 128;

/** The machine's NVIDIA GPUs; none where their tool is missing or fails, which is logged. */
export async function readNvidiaGpus(ask: NvidiaSmi, logger: Logger): Promise<MachineGpus> {
  try {
    const list = await ask(['--query-gpu=index,name,memory.total', '--format=csv,noheader,nounits']);
    const gpus = list === null ? [] : parseGpuList(list);
    if (gpus.length === 0) return { gpus, cudaVersion: null };
    return { gpus, cudaVersion: parseDriverCudaVersion((await ask([])) ?? '') };
  } catch (error) {
    logger.warn('nvidia-smi failed; this host reports no GPU', { error });
    return { gpus: [], cudaVersion: null };
  }
}

export const runNvidiaSmi: NvidiaSmi = async (args) => {
  try {
    const { stdout } = await promisify(execFile)('nvidia-smi', [...args], { timeout: NVIDIA_SMI_TIMEOUT_MS });
    return stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

/**
 * Reads `nvidia-smi --query-gpu=index,name,memory.total --format=csv,noheader,nounits`. Lines that are none of it
 * (warnings, a card that does not answer) are left out.
 */
export function parseGpuList(text: string): readonly HostGpu[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.split(',').map((field) => field.trim());
    const [index = '', name = '', memoryMib = ''] = fields;
    if (fields.length !== 3 || !/^\d+$/.test(index) || name === '') return [];
    const typeId = cleanText(name, NAME_CHARACTERS_MAX);
    return [{ index: Number(index), typeId, memoryBytes: memoryOf(typeId, memoryMib) }];
  });
}

/** A card that shares the machine's memory says `[N/A]`; the catalog may know better. */
function memoryOf(typeId: string, memoryMib: string): number {
  if (/^\d+$/.test(memoryMib)) return Number(memoryMib) * MIB;
  return (gpuTypeById(typeId)?.memoryGb ?? 0) * GIB;
}

/** The highest CUDA version of the driver, `major.minor`, from the header of plain `nvidia-smi`; null when it has none. */
export const parseDriverCudaVersion = (header: string): string | null =>
  /\bCUDA(?: UMD)? Version:\s*(\d+\.\d+)/.exec(header)?.[1] ?? null;
