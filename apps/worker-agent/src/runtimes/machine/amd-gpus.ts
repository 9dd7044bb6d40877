import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanText } from '@berth/domain';
import { readJson } from '@berth/contracts';
import { NO_GPUS, type GpuDevice, type GpuReading } from './gpu-device.js';
import { GpuToolError, type AskTool } from './gpu-tool.js';

const ARGS = ['--showproductname', '--showuniqueid', '--showmeminfo', 'vram', '--showbus', '--json'];
const NAME_CHARACTERS_MAX = 128;
const PCI_FOLDER = '/sys/bus/pci/devices';
const ROOT_GROUP = 0;

/** The device file of the card on this PCI bus; undefined where there is none. */
export type FindRenderNode = (bus: string) => Promise<string | undefined>;

/** The machine's AMD GPUs; one without a device file could be given to no container. Never rejects. */
export async function readAmdGpus(ask: AskTool, findRenderNode: FindRenderNode): Promise<GpuReading> {
  try {
    const printed = await ask(ARGS);
    if (printed === null) return { kind: 'read', ...NO_GPUS };
    const cards = parseAmdCards(printed);
    if (cards === null) return { kind: 'failed', detail: 'rocm-smi printed no JSON', gpus: [] };
    const gpus = await Promise.all(
      cards.map(async ({ bus, gpu }) => {
        const renderNode = await findRenderNode(bus);
        return renderNode === undefined ? [] : [{ ...gpu, renderNode }];
      }),
    );
    return { kind: 'read', gpus: gpus.flat(), cudaVersion: null };
  } catch (error) {
    const detail = error instanceof GpuToolError ? error.message : String(error);
    return { kind: 'failed', detail, gpus: [] };
  }
}

interface AmdCard {
  readonly gpu: GpuDevice;
  /** PCI address: `0000:C1:00.0`; empty where it was not told. */
  readonly bus: string;
}

/** Reads what `rocm-smi --json` prints, behind warnings that it may print before; null where it is none of it. */
export function parseAmdCards(printed: string): readonly AmdCard[] | null {
  const reading = readJson(printed.slice(Math.max(0, printed.indexOf('{'))));
  if (reading.kind !== 'value' || typeof reading.value !== 'object' || reading.value === null) return null;
  return Object.entries(reading.value).flatMap(([name, told]: readonly [string, unknown]) => {
    const [, index] = /^card(\d+)$/.exec(name) ?? [];
    return index === undefined ? [] : toCard(Number(index), told);
  });
}

function toCard(index: number, told: unknown): readonly AmdCard[] {
  // What the members are called has changed in letter case over the versions of the tool.
  const members = new Map(Object.entries(told ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]));
  const wordOf = (name: string): string => members.get(name) ?? '';
  const series = wordOf('card series');
  const memoryBytes = Number(members.get('vram total memory (b)'));
  if (['', 'N/A'].includes(series) || !Number.isSafeInteger(memoryBytes)) return [];
  const typeId = cleanText(/^(AMD|Radeon)\b/.test(series) ? series : `AMD ${series}`, NAME_CHARACTERS_MAX);
  return [
    { gpu: { index, ...uuidOf(wordOf('unique id')), typeId, memoryBytes, maker: 'amd' }, bus: wordOf('pci bus') },
  ];
}

/** The run-time library calls a card by its unique id, which small cards do not have. */
function uuidOf(uniqueId: string): { readonly uuid?: string } {
  const [, digits] = /^0x([0-9a-f]{1,16})$/i.exec(uniqueId) ?? [];
  return digits === undefined ? {} : { uuid: `GPU-${digits.toLowerCase().padStart(16, '0')}` };
}

export const renderNodeOf: FindRenderNode = async (bus) => {
  if (!/^[0-9a-f:.]+$/i.test(bus)) return undefined;
  const nodes = await readdir(join(PCI_FOLDER, bus.toLowerCase(), 'drm')).catch((): readonly string[] => []);
  const node = nodes.find((name) => name.startsWith('renderD'));
  return node === undefined ? undefined : `/dev/dri/${node}`;
};

/**
 * The groups that may open the device files, as the host knows them: an image that does not run as root has none of them.
 * That of root is given to nobody, for with it go files of the image.
 */
export async function groupsOf(files: readonly string[]): Promise<readonly number[]> {
  const found = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  const groups = new Set(found.flatMap((each) => each?.gid ?? []));
  return [...groups].filter((group) => group !== ROOT_GROUP).toSorted((a, b) => a - b);
}
