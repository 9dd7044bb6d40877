import { cleanText, gpuTypeById, type HostGpu } from '@berth/domain';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const NAME_CHARACTERS_MAX = 128;

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
