import type { ContainerSpec } from '../endpoint/index.js';
import type { Cloud } from '../host/index.js';
import type { AccountId, ClusterId, PodId } from '../ids.js';
import type { PersistentMount } from '../template/index.js';
import type { PodStatus } from './pod-status.js';

/** The hardware on which a pod runs. */
export type PodCompute =
  | { readonly kind: 'gpu'; readonly typeId: string; readonly count: number }
  | { readonly kind: 'cpu'; readonly flavorId: string; readonly vcpuCount: number; readonly memoryGb: number };

/** A network volume of the same account inside the container. */
interface NetworkMount {
  readonly volumeId: string;
  /** Absolute, inside the container. */
  readonly path: string;
}

/** How to reach a pod's SSH server. */
export interface SshAddress {
  readonly host: string;
  readonly port: number;
  readonly username: string;
}

/** A port of the container as it can be reached. Null: not yet, or not over its own address. */
interface PodPort {
  readonly privatePort: number;
  readonly publicPort: number | null;
  readonly type: 'http' | 'tcp' | 'udp';
  readonly ip: string | null;
}

/** The last measurements of a running pod. Utilization is in whole per cent. */
export interface PodRuntime {
  readonly gpus: readonly { readonly utilPercent: number; readonly memoryUtilPercent: number }[];
  readonly cpuUtilPercent: number;
  readonly memoryUtilPercent: number;
  readonly ports: readonly PodPort[];
}

export const CLUSTER_ROLES = ['SLURM_CONTROLLER', 'SLURM_COMPUTE', 'RAY_HEAD', 'RAY_WORKER'] as const;
export type ClusterRole = (typeof CLUSTER_ROLES)[number];

/** A pod's place in its cluster. */
interface ClusterMembership {
  readonly clusterId: ClusterId;
  /** From 0, the entry of the cluster; null until it is given. No two members share one. */
  readonly rank: number | null;
  /** On the cluster's own network; null until it is given. */
  readonly ip: string | null;
  /** Only in clusters that have roles. */
  readonly role: ClusterRole | null;
}

/** One container that a tenant has for itself, until it gives it back. */
export interface Pod {
  readonly id: PodId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly container: Omit<ContainerSpec, 'diskGb'> & { readonly diskGb: number };
  readonly compute: PodCompute;
  readonly persistentMount: PersistentMount | null;
  readonly networkMounts: readonly NetworkMount[];
  readonly cloud: Cloud;
  /** Null until it is placed. */
  readonly dataCenterId: string | null;
  /** Of the host's driver, `major.minor`; null where it is not known or there is none. */
  readonly cudaVersion: string | null;
  readonly status: PodStatus;
  /** Why it is in this status, for people; empty when there is nothing to say. */
  readonly reason: string;
  readonly sshProxy: SshAddress | null;
  readonly sshDirect: SshAddress | null;
  /** The template that it was made from; the template may be gone. */
  readonly templateId: string | null;
  /** While it holds its hardware. */
  readonly costUsdPerHour: number;
  /** May be neither stopped nor reset. */
  readonly isLocked: boolean;
  /** Null: not reachable from pods of other data centers. */
  readonly globalNetwork: { readonly ip: string; readonly internalDns: string } | null;
  readonly runtime: PodRuntime | null;
  readonly createdAtMs: number;
  /** When the present container started. */
  readonly startedAtMs: number | null;
  readonly membership: ClusterMembership | null;
}

/** The present cost of the pod: nothing once it has given its hardware back. */
export const presentCostUsdPerHour = ({ costUsdPerHour, status }: Pick<Pod, 'costUsdPerHour' | 'status'>): number =>
  status === 'EXITED' || status === 'TERMINATED' ? 0 : costUsdPerHour;

/** Whole seconds since the container started; never negative, whatever the clocks say. */
export const uptimeSeconds = (startedAtMs: number | null, nowMs: number): number =>
  startedAtMs === null ? 0 : Math.max(0, Math.floor((nowMs - startedAtMs) / 1000));

/** The command that connects, to be pasted. */
export const sshCommand = ({ host, port, username }: SshAddress): string =>
  port === SSH_PORT ? `ssh ${username}@${host}` : `ssh ${username}@${host} -p ${port}`;

const SSH_PORT = 22;
