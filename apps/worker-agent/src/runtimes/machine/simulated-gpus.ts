import { gpuTypeById } from '@berth/domain';
import type { MachineGpus } from './gpu-device.js';

export type SimulatedGpusReading =
  ({ readonly kind: 'gpus' } & MachineGpus) | { readonly kind: 'malformed'; readonly detail: string };

const KIND = /^(.+):(\d+):(\d+\.\d+)$/;
const COUNT_MAX = 64;
const GIB = 1024 ** 3;

/**
 * Reads `BERTH_SIMULATED_GPUS`: `TYPE:COUNT:CUDA`, kinds parted by commas. A host has one driver, so of several CUDA
 * versions the lowest holds.
 */
export function parseSimulatedGpus(text: string): SimulatedGpusReading {
  const kinds = text.split(',').map((part) => readKind(part.trim()));
  const detail = kinds.find((kind) => kind.problem !== null)?.problem;
  if (detail != null) return { kind: 'malformed', detail };
  const typeIds = kinds.flatMap(({ typeId, count }) => Array<string>(count).fill(typeId));
  const gpus = typeIds.map((typeId, index) => ({ index, typeId, memoryBytes: memoryOf(typeId) }));
  const [lowest] = kinds.map(({ version }) => version).sort(byVersion);
  return { kind: 'gpus', gpus, cudaVersion: lowest ?? null };
}

interface Kind {
  readonly typeId: string;
  readonly count: number;
  readonly version: string;
  readonly problem: string | null;
}

function readKind(text: string): Kind {
  const [, typeId = '', count = '', version = ''] = KIND.exec(text) ?? [];
  return { typeId, count: Number(count), version, problem: problemOf(text, typeId, Number(count)) };
}

const memoryOf = (typeId: string): number => (gpuTypeById(typeId)?.memoryGb ?? 0) * GIB;

function problemOf(kind: string, typeId: string, count: number): string | null {
  if (typeId === '') return `"${kind}" is not TYPE:COUNT:CUDA, such as "NVIDIA L4:2:12.4"`;
  if (gpuTypeById(typeId) === undefined) return `"${typeId}" is no GPU type of the catalog`;
  return count >= 1 && count <= COUNT_MAX ? null : `"${kind}" must have from 1 to ${String(COUNT_MAX)} GPUs`;
}

function byVersion(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number);
  const [majorB = 0, minorB = 0] = b.split('.').map(Number);
  return majorA - majorB || minorA - minorB;
}
