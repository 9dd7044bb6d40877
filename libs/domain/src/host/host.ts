import type { EndpointId, HostId } from '../ids.js';

/** What a host runs its workers in. */
export const RUNTIME_KINDS = ['docker', 'process', 'kubernetes'] as const;

export type RuntimeKind = (typeof RUNTIME_KINDS)[number];

export interface HostGpu {
  /** Position on the host: what the driver calls the device index; slices of cards come after all cards. */
  readonly index: number;
  /** What the driver calls it, wherever it is plugged in; absent where it has none, and of agents that do not say. */
  readonly uuid?: string;
  /** GPU type id of the catalog; the driver's own name where the catalog has none. */
  readonly typeId: string;
  readonly memoryBytes: number;
}

/** What a machine has, as its agent reports it. */
export interface Inventory {
  readonly vcpus: number;
  /** True where more vCPU are reported than the machine has. */
  readonly isOvercommitted: boolean;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly gpus: readonly HostGpu[];
  /** True where the GPUs are pretended, for trying Berth without one. */
  readonly areGpusSimulated: boolean;
  /** The driver's highest CUDA version, `major.minor`; null without GPU. */
  readonly cudaVersion: string | null;
  readonly runtime: RuntimeKind;
  /** Its containers can be frozen and go on where they stood; absent: they cannot. */
  readonly canPause?: boolean;
  /** Images already present: placement prefers such a host. */
  readonly images: readonly string[];
  /**
   * The images that it was asked to have ready for releases that are to come; absent: it has none to prepare, or is of a
   * version that does not do it, and is not asked.
   */
  readonly imagesAhead?: readonly ImageAhead[];
  /** Where it keeps network volumes; absent, or null, where it keeps none, or cannot reach them now. */
  readonly volumes?: VolumeStorage | null;
  /** Of Berth, that its agent is of; absent of agents that do not say. */
  readonly agentVersion?: string;
}

/** An image that a host prepares before a worker of its release is placed there (ADR 0064). */
export interface ImageAhead {
  readonly endpointId: EndpointId;
  readonly release: number;
  /** `failed`: it was tried as often as it is. */
  readonly state: 'pending' | 'ready' | 'failed';
  /** Why the last try failed: clean text; empty where none has. */
  readonly reason: string;
}

export interface VolumeStorage {
  /** Says which storage it is: hosts that name the same one see the same files. */
  readonly storageId: string;
}

/** Whether new workers may come (`ready`), stay but not come (`cordoned`), or must leave (`draining`). */
export type HostIntent = 'ready' | 'cordoned' | 'draining';

export interface Host {
  readonly id: HostId;
  readonly name: string;
  readonly dataCenterId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly intent: HostIntent;
  /** Null until the host has joined. */
  readonly inventory: Inventory | null;
  readonly lastSeenAtMs: number | null;
}
