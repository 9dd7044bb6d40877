import { GIB, MIB, SHIPPED_CATALOG, cleanText } from '@berth/domain';
import { NO_GPUS, type GpuDevice, type GpuReading } from './gpu-device.js';
import { GpuToolError, type AskTool } from './gpu-tool.js';

const GB = 1e9;
const NAME_CHARACTERS_MAX = 128;
const FIELDS = 'index,uuid,name,memory.total';
const FORMAT = '--format=csv,noheader,nounits';
const FIELDS_MIN = FIELDS.split(',').length;

/** The machine's NVIDIA GPUs: cards, and of cards that are sliced (MIG) their slices. Never rejects. */
export async function readNvidiaGpus(ask: AskTool): Promise<GpuReading> {
  let named: readonly GpuDevice[] = [];
  try {
    const cards = parseCards((await listCards(ask)) ?? '');
    named = offered(cards, []);
    const gpus = cards.some(({ isSliced }) => isSliced)
      ? offered(cards, parseSlices((await ask(['-L'])) ?? ''))
      : named;
    if (gpus.length === 0) return { kind: 'read', ...NO_GPUS };
    return { kind: 'read', gpus, cudaVersion: parseDriverCudaVersion((await ask([])) ?? '') };
  } catch (error) {
    const { message, printed } = error instanceof GpuToolError ? error : { message: String(error), printed: '' };
    return { kind: 'failed', detail: message, gpus: named.length > 0 ? named : offered(parseCards(printed), []) };
  }
}

/** Drivers before 450 know no slices, and refuse a question about them. */
async function listCards(ask: AskTool): Promise<string | null> {
  try {
    return await ask([`--query-gpu=${FIELDS},mig.mode.current`, FORMAT]);
  } catch (error) {
    if (!(error instanceof GpuToolError) || !error.printed.includes('not a valid field')) throw error;
    return ask([`--query-gpu=${FIELDS}`, FORMAT]);
  }
}

interface Card {
  readonly gpu: GpuDevice;
  /** It is given out in slices only, if it has any. */
  readonly isSliced: boolean;
}

interface Slice {
  /** Of its card. */
  readonly cardIndex: number;
  readonly uuid: string;
  /** As the driver writes it: `1g.10gb`. */
  readonly profile: string;
}

/**
 * Reads `nvidia-smi --query-gpu=index,uuid,name,memory.total,mig.mode.current --format=csv,noheader,nounits`. Lines that are
 * none of it (warnings, a card that does not answer) are left out.
 */
export function parseCards(text: string): readonly Card[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.split(',').map((field) => field.trim());
    const [index = '', uuid = '', name = '', memoryMib = '', mig = ''] = fields;
    // In place of what a card does not answer stands a word in brackets.
    if (fields.length < FIELDS_MIN || !/^\d+$/.test(index) || /^(\[.*)?$/.test(name)) return [];
    const typeId = cleanText(name, NAME_CHARACTERS_MAX);
    const known = /^GPU-[\w-]{1,100}$/.test(uuid) ? { uuid } : {};
    const gpu = { index: Number(index), ...known, typeId, memoryBytes: memoryOf(typeId, memoryMib) };
    return [{ gpu: { ...gpu, maker: 'nvidia' as const }, isSliced: mig === 'Enabled' }];
  });
}

/** Reads the slices in `nvidia-smi -L`, where they stand below their cards. */
function parseSlices(text: string): readonly Slice[] {
  let cardIndex = -1;
  return text.split('\n').flatMap((line) => {
    cardIndex = Number(/^GPU (\d+):/.exec(line)?.[1] ?? cardIndex);
    const [, profile, uuid] = /^\s+MIG (\S+)\s+Device\s+\d+:\s+\(UUID: (MIG-[\w/-]{1,100})\)/.exec(line) ?? [];
    return profile === undefined || uuid === undefined ? [] : [{ cardIndex, uuid, profile }];
  });
}

/** Whole cards under the driver's own index, then slices under the numbers that follow. */
function offered(cards: readonly Card[], slices: readonly Slice[]): readonly GpuDevice[] {
  const whole = cards.filter(({ isSliced }) => !isSliced).map(({ gpu }) => gpu);
  const firstFree = 1 + Math.max(-1, ...cards.map(({ gpu }) => gpu.index));
  const parts = slices.flatMap(({ cardIndex, profile, uuid }): readonly Omit<GpuDevice, 'index'>[] => {
    const card = cards.find(({ gpu, isSliced }) => isSliced && gpu.index === cardIndex);
    if (card === undefined) return [];
    const typeId = cleanText(`${card.gpu.typeId} MIG ${profile}`, NAME_CHARACTERS_MAX);
    return [{ uuid, typeId, memoryBytes: sliceMemory(profile), maker: 'nvidia' }];
  });
  return [...whole, ...parts.map((part, position) => ({ index: firstFree + position, ...part }))];
}

/** A card that shares the machine's memory says `[N/A]`; the shipped catalog may know better. */
function memoryOf(typeId: string, memoryMib: string): number {
  if (/^\d+$/.test(memoryMib)) return Number(memoryMib) * MIB;
  return (SHIPPED_CATALOG.gpuType(typeId)?.memoryGb ?? 0) * GIB;
}

/** The profile names its memory, rounded up from GiB. */
const sliceMemory = (profile: string): number => Number(/(\d+)gb/.exec(profile)?.[1] ?? 0) * GB;

/** The highest CUDA version of the driver, `major.minor`, from the header of plain `nvidia-smi`; null when it has none. */
export const parseDriverCudaVersion = (header: string): string | null =>
  /\bCUDA(?: UMD)? Version:\s*(\d+\.\d+)/.exec(header)?.[1] ?? null;
