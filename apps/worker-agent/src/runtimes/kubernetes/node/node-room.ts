import { GIB, MIB, SHIPPED_CATALOG, cleanText, type HostGpu, type Inventory } from '@berth/domain';
import type { MachineGpus } from '../../machine/gpu-device.js';
import type { Reserve } from '../../machine/reserve.js';
import { shortName } from '../../images/image-name.js';
import type { NodeObject, PodObject } from '../api/kube-objects.js';
import { isFinal } from '../pods/pod-end.js';
import { GPU_RESOURCE } from '../pods/pod-spec.js';
import { podRequest } from './pod-request.js';
import { parseQuantity } from './quantities.js';

/** What an operator says of a node that it does not say of itself. */
export interface NodeFacts {
  /** Null: what it has. */
  readonly vcpus: number | null;
  readonly simulatedGpus: MachineGpus | null;
  readonly reserve: Reserve;
  /** Null: by the node's labels. */
  readonly gpuType: string | null;
}

/** A node as its workers see it. */
export interface NodeRoom {
  /** Of the node that was seen: one that is deleted and registers again has its old name and another uid. */
  readonly nodeUid: string;
  readonly inventory: Inventory;
  readonly cores: number;
  readonly vcpuShare: number;
  /** It is being taken out of service: whoever is there stays until told otherwise, and nobody else is to come. */
  readonly isCordoned: boolean;
}

const IMAGES_MAX = 1_000;
const NAME_CHARACTERS_MAX = 512;
/** Labels that NVIDIA's feature discovery puts on a node. */
const PRODUCT = 'nvidia.com/gpu.product';
const MEMORY = 'nvidia.com/gpu.memory';
const CUDA = [
  ['nvidia.com/cuda.runtime-version.major', 'nvidia.com/cuda.runtime-version.minor'],
  ['nvidia.com/cuda.runtime.major', 'nvidia.com/cuda.runtime.minor'],
] as const;

/**
 * What the node can give to workers: what it has for Pods, less what others than this agent's have been promised.
 *
 * @param others Pods on the node that are not this agent's
 * @param prepared images that this agent has had pulled; a node tells only some of its images
 */
export function nodeRoom(
  node: NodeObject,
  others: readonly PodObject[],
  { facts, prepared }: { readonly facts: NodeFacts; readonly prepared: readonly string[] },
): NodeRoom {
  const allocatable = node.status?.allocatable ?? {};
  const free = (resource: string): number =>
    Math.max(0, parseQuantity(allocatable[resource]) - promised(others, resource));
  const cores = parseQuantity(allocatable['cpu']);
  const freeCores = Math.floor(free('cpu') * 10) / 10;
  const vcpus = facts.vcpus ?? freeCores;
  const { cudaVersion, gpus } = facts.simulatedGpus ?? cardsOf(node, facts.gpuType, free(GPU_RESOURCE));
  return {
    nodeUid: node.metadata.uid,
    cores,
    isCordoned: node.spec?.unschedulable === true,
    vcpuShare: vcpus > freeCores && vcpus > 0 ? freeCores / vcpus : 1,
    inventory: {
      ...{ vcpus, isOvercommitted: vcpus > cores },
      memoryBytes: Math.floor(Math.max(0, free('memory') - (facts.reserve.memoryBytes ?? 0))),
      diskBytes: Math.floor(Math.max(0, free('ephemeral-storage') - (facts.reserve.diskBytes ?? 0))),
      gpus: gpus.map(({ index, memoryBytes, typeId }): HostGpu => ({ index, typeId, memoryBytes })),
      ...{ areGpusSimulated: facts.simulatedGpus !== null, cudaVersion, runtime: 'kubernetes' },
      images: imagesOf(node, prepared),
    },
  };
}

const promised = (pods: readonly PodObject[], resource: string): number =>
  pods.filter(({ status }) => !isFinal(status?.phase)).reduce((sum, pod) => sum + podRequest(pod, resource), 0);

function cardsOf({ metadata }: NodeObject, gpuType: string | null, count: number): MachineGpus {
  const { labels = {} } = metadata;
  const typeId = gpuType ?? typeOf(labels[PRODUCT]);
  const memoryBytes = memoryOf(typeId, labels[MEMORY]);
  const gpus = Array.from({ length: Math.floor(count) }, (_, index) => ({ index, typeId, memoryBytes }));
  return { gpus, cudaVersion: gpus.length === 0 ? null : cudaVersionOf(labels) };
}

/** @param mib as the node's label has it */
function memoryOf(typeId: string, mib: string | undefined): number {
  const told = Number(mib ?? 0);
  return told > 0 ? told * MIB : (SHIPPED_CATALOG.gpuType(typeId)?.memoryGb ?? 0) * GIB;
}

function cudaVersionOf(labels: Readonly<Record<string, string>>): string | null {
  for (const [major, minor] of CUDA) {
    if (labels[major] !== undefined) return `${labels[major]}.${labels[minor] ?? '0'}`;
  }
  return null;
}

/** A label may have no spaces: those of the driver's own name are hyphens there. */
function typeOf(product: string | undefined): string {
  const known = SHIPPED_CATALOG.gpuTypes.find(({ id }) => id.replaceAll(' ', '-') === product);
  return known?.id ?? cleanText(product ?? 'GPU', NAME_CHARACTERS_MAX);
}

function imagesOf({ status }: NodeObject, prepared: readonly string[]): readonly string[] {
  const told = (status?.images ?? []).flatMap(({ names }) => names ?? []).filter((name) => !name.includes('@'));
  const names = [...told.map(shortName), ...prepared].map((name) => cleanText(name, NAME_CHARACTERS_MAX));
  return [...new Set(names)].slice(0, IMAGES_MAX);
}
