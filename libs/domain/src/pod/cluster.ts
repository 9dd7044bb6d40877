import type { AccountId, ClusterId, PodId } from '../ids.js';
import { podCounts, type PodCounts, type PodStatus } from './pod-status.js';
import type { Pod } from './pod.js';

export const CLUSTER_TYPES = ['APPLICATION', 'TRAINING', 'SLURM', 'RAY'] as const;
export type ClusterType = (typeof CLUSTER_TYPES)[number];

/** Pods that work together, all of one shape and in one data center. */
export interface Cluster {
  readonly id: ClusterId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly type: ClusterType;
  readonly compute: {
    readonly gpuTypeId: string;
    readonly gpuCountPerPod: number;
    /** 2 to 250. */
    readonly podCount: number;
  };
  /** The template that its pods were made from; the template may be gone. */
  readonly templateId: string | null;
  /** Its pods' own network; null until it is there. */
  readonly network: {
    readonly cidr: string;
    readonly vxlanId: number | null;
    readonly vxlanPort: number | null;
  } | null;
  readonly createdAtMs: number;
}

/** The members of a cluster, from which its summary is made. */
export type ClusterMember = Pick<Pod, 'id' | 'status' | 'dataCenterId' | 'sshDirect'> & {
  readonly clusterId: ClusterId;
  readonly rank: number | null;
};

/** The present state of a cluster, as its members tell. */
export interface ClusterSummary {
  readonly pods: PodCounts;
  /** Null until a pod is placed. */
  readonly dataCenterId: string | null;
  /** The member through which the cluster is driven; null until it is placed. */
  readonly primary: {
    readonly podId: PodId;
    readonly status: PodStatus;
    /** `host:port`; null unless it runs with SSH exposed. */
    readonly sshEndpoint: string | null;
  } | null;
}

/** @param members of one cluster */
export function summarizeCluster(members: readonly ClusterMember[]): ClusterSummary {
  const placed = members.filter(({ dataCenterId }) => dataCenterId !== null);
  const primary = placed.find(({ rank }) => rank === 0);
  return {
    pods: podCounts(members),
    dataCenterId: placed[0]?.dataCenterId ?? null,
    primary:
      primary === undefined ? null : { podId: primary.id, status: primary.status, sshEndpoint: sshEndpointOf(primary) },
  };
}

const sshEndpointOf = ({ sshDirect, status }: ClusterMember): string | null =>
  status === 'RUNNING' && sshDirect !== null ? `${sshDirect.host}:${sshDirect.port}` : null;
