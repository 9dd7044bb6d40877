import { ApiProperty } from '@nestjs/swagger';
import { CLUSTER_TYPES, POD_STATUSES, type ClusterType, type PodCounts, type PodStatus } from '@berth/domain';

export class ClusterComputeBody {
  @ApiProperty({ description: 'GPU type of every pod, as the catalog has it.', example: 'NVIDIA H100 80GB HBM3' })
  readonly gpuTypeId!: string;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'GPUs of each pod.', example: 8 })
  readonly gpuCountPerPod!: number;

  @ApiProperty({ type: 'integer', minimum: 2, maximum: 250, description: 'Pods that there shall be.', example: 4 })
  readonly podCount!: number;
}

export class ClusterPodCountsBody {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Pods that there are.', example: 4 })
  readonly total!: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: `By status (${POD_STATUSES.join(', ')}), without those of which there is none.`,
    example: { RUNNING: 3, PROVISIONING: 1 },
  })
  readonly byStatus!: PodCounts['byStatus'];
}

export class ClusterNetworkBody {
  @ApiProperty({ description: 'Range of the addresses.', example: '10.65.0.0/16' })
  readonly cidr!: string;

  @ApiProperty({ type: 'integer', required: false, description: 'Absent until it is given.', example: 42 })
  readonly vxlanId?: number;

  @ApiProperty({ type: 'integer', required: false, description: 'Absent until it is given.', example: 4789 })
  readonly vxlanPort?: number;
}

export class ClusterPrimaryBody {
  @ApiProperty({ description: 'Id of the pod.', example: 'p7k2m4n6x1z9ab' })
  readonly podId!: string;

  @ApiProperty({ enum: POD_STATUSES, description: 'What the pod is doing.', example: 'RUNNING' })
  readonly status!: PodStatus;

  @ApiProperty({
    required: false,
    description: '`host:port`. Absent unless the pod runs with its port 22/tcp in reach.',
    example: '192.0.2.7:40022',
  })
  readonly sshEndpoint?: string;
}

export class ClusterBody {
  @ApiProperty({ description: 'Id of the cluster.', example: 'c4m8x2k0q9w1za' })
  readonly id!: string;

  @ApiProperty({ description: 'For people.', example: 'training' })
  readonly name!: string;

  @ApiProperty({ enum: CLUSTER_TYPES, description: 'What its pods do together.', example: 'TRAINING' })
  readonly type!: ClusterType;

  @ApiProperty({ description: 'The shape of every pod, and how many there shall be.' })
  readonly compute!: ClusterComputeBody;

  @ApiProperty({
    required: false,
    description: 'The template that its pods were made from. Absent: none.',
    example: 'k3v9x0q2m7a1zd',
  })
  readonly template?: string;

  @ApiProperty({ required: false, description: 'Where its pods are. Absent until one is placed.', example: 'LOCAL-1' })
  readonly dataCenterId?: string;

  @ApiProperty({ description: 'The pods themselves are at `/v2/clusters/{id}/pods`.' })
  readonly pods!: ClusterPodCountsBody;

  @ApiProperty({ required: false, description: "Its pods' own network. Absent until it is there." })
  readonly network?: ClusterNetworkBody;

  @ApiProperty({
    required: false,
    description: 'The pod of rank 0, through which the cluster is driven. Absent until it is placed.',
  })
  readonly primary?: ClusterPrimaryBody;

  @ApiProperty({ format: 'date-time', description: 'When it was asked for.', example: '2026-01-01T12:00:00.000Z' })
  readonly createdAt!: string;
}

export class ClusterListBody {
  @ApiProperty({ type: () => [ClusterBody], description: 'Oldest first.' })
  readonly clusters!: readonly ClusterBody[];
}
