import { SHIPPED_CATALOG } from '@berth/domain';
import type { MachineGpus } from './gpu-device.js';

export type SimulatedGpusReading =
  ({ readonly kind: 'gpus' } & MachineGpus) | { readonly kind: 'malformed'; readonly detail: string };

const KIND = /^([^:]+):(\d+):(\d+\.\d+)(?::(\d{1,4}))?$/;
const COUNT_MAX = 64;
const GIB = 1024 ** 3;

/**
 * Reads `BERTH_SIMULATED_GPUS`: `TYPE:COUNT:CUDA`, kinds parted by commas; of a card that the shipped catalog does not have
 * `TYPE:COUNT:CUDA:GB`, with its memory. A host has one driver, so of several CUDA
 * versions the lowest holds.
 */
export function parseSimulatedGpus(text: string): SimulatedGpusReading {
  const kinds = text.split(',').map((part) => readKind(part.trim()));
  const detail = kinds.find((kind) => kind.problem !== null)?.problem;
  if (detail != null) return { kind: 'malformed', detail };
  const cards = kinds.flatMap(({ count, memoryGb, typeId }) =>
    Array.from({ length: count }, () => ({ typeId, memoryBytes: (memoryGb ?? 0) * GIB })),
  );
  const [lowest] = kinds.map(({ version }) => version).sort(byVersion);
  return { kind: 'gpus', gpus: cards.map((card, index) => ({ index, ...card })), cudaVersion: lowest ?? null };
}

interface Kind {
  readonly typeId: string;
  readonly count: number;
  readonly version: string;
  /** Undefined where neither the text nor the shipped catalog has it. */
  readonly memoryGb: number | undefined;
  readonly problem: string | null;
}

function readKind(text: string): Kind {
  const [, typeId = '', count = '', version = '', gb] = KIND.exec(text) ?? [];
  const memoryGb = gb === undefined ? SHIPPED_CATALOG.gpuType(typeId)?.memoryGb : Number(gb);
  const kind = { typeId, count: Number(count), version, memoryGb };
  return { ...kind, problem: problemOf(text, kind) };
}

function problemOf(text: string, { count, memoryGb, typeId }: Omit<Kind, 'problem'>): string | null {
  if (typeId === '') return `"${text}" is not TYPE:COUNT:CUDA, such as "NVIDIA L4:2:12.4"`;
  if (memoryGb === undefined) {
    return `"${typeId}" is no GPU type of the catalog; of another card say the memory too, such as "Tesla T4:2:12.4:16"`;
  }
  return count >= 1 && count <= COUNT_MAX ? null : `"${text}" must have from 1 to ${String(COUNT_MAX)} GPUs`;
}

function byVersion(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number);
  const [majorB = 0, minorB = 0] = b.split('.').map(Number);
  return majorA - majorB || minorA - minorB;
}
