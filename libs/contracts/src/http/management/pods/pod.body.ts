import { ApiProperty } from '@nestjs/swagger';
import {
  CLOUDS,
  CLUSTER_ROLES,
  POD_ACTION_NAMES,
  POD_STATUSES,
  type Cloud,
  type ClusterRole,
  type PodAction,
  type PodStatus,
} from '@berth/domain';
import { PodRuntimeBody } from './pod-runtime.body.js';

export class PodDiskBody {
  @ApiProperty({ type: 'integer', minimum: 10, description: 'GB.', example: 20 })
  readonly size!: number;

  @ApiProperty({ description: 'Absolute path inside the container.', example: '/workspace' })
  readonly path!: string;
}

export class NetworkMountBody {
  @ApiProperty({ description: 'A network volume of the account.', example: 'v8f2k1m0q4s7xd' })
  readonly volumeId!: string;

  @ApiProperty({ description: 'Absolute path inside the container.', example: '/data' })
  readonly path!: string;
}

export class PodMountsBody {
  @ApiProperty({ required: false, description: 'A disk that outlives the container. Absent: none.' })
  readonly persistent?: PodDiskBody;

  @ApiProperty({ type: () => [NetworkMountBody], required: false, description: 'Network volumes. Absent: none.' })
  readonly network?: readonly NetworkMountBody[];
}

export class SshAddressBody {
  @ApiProperty({ description: 'Name or address.', example: '192.0.2.7' })
  readonly host!: string;

  @ApiProperty({ type: 'integer', description: 'TCP port.', example: 40_022 })
  readonly port!: number;

  @ApiProperty({ description: 'As whom to log in.', example: 'root' })
  readonly username!: string;

  @ApiProperty({ description: 'Connects, when pasted.', example: 'ssh root@192.0.2.7 -p 40022' })
  readonly command!: string;
}

export class PodSshBody {
  @ApiProperty({ type: () => SshAddressBody, nullable: true, description: 'Through a proxy; null: not yet, or never.' })
  readonly proxy!: SshAddressBody | null;

  @ApiProperty({
    type: () => SshAddressBody,
    nullable: true,
    description: "Straight to the pod's own server; null unless its port 22/tcp can be reached.",
  })
  readonly direct!: SshAddressBody | null;
}

export class GlobalNetworkingBody {
  @ApiProperty({ description: 'Whether it has such an address.', example: true })
  readonly enabled!: boolean;

  @ApiProperty({ required: false, description: 'Only where enabled.', example: '10.65.1.42' })
  readonly ip?: string;

  @ApiProperty({ required: false, description: 'Only where enabled.', example: 'p7k2m4n6x1z9ab.pods.internal' })
  readonly internalDns?: string;
}

export class PodGpuBody {
  @ApiProperty({ description: 'GPU type, as the catalog has it.', example: 'NVIDIA H100 80GB HBM3' })
  readonly id!: string;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'GPUs.', example: 8 })
  readonly count!: number;
}

export class PodCpuBody {
  @ApiProperty({ description: 'CPU flavor, as the catalog has it.', example: 'cpu3c' })
  readonly id!: string;

  @ApiProperty({ type: 'integer', minimum: 2, description: 'A power of two.', example: 4 })
  readonly vcpuCount!: number;

  @ApiProperty({ type: 'integer', minimum: 2, description: 'GB.', example: 8 })
  readonly memory!: number;
}

export class ClusterMembershipBody {
  @ApiProperty({ description: 'The cluster.', example: 'c4m8x2k0q9w1za' })
  readonly id!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'From 0, the entry of the cluster; null until it is given.',
    example: 0,
  })
  readonly rank!: number | null;

  @ApiProperty({
    required: false,
    description: "On the cluster's own network. Absent until it is given.",
    example: '10.65.0.2',
  })
  readonly ip?: string;

  @ApiProperty({
    enum: CLUSTER_ROLES,
    required: false,
    description: 'Absent in clusters without roles.',
    example: 'RAY_HEAD',
  })
  readonly role?: ClusterRole;
}

export class PodBody {
  @ApiProperty({ description: 'Id of the pod.', example: 'p7k2m4n6x1z9ab' })
  readonly id!: string;

  @ApiProperty({ description: 'For people.', example: 'training-0' })
  readonly name!: string;

  @ApiProperty({ enum: POD_STATUSES, description: 'What it is doing.', example: 'RUNNING' })
  readonly status!: PodStatus;

  @ApiProperty({ description: 'Why it is in this status; empty when there is nothing to say.', example: '' })
  readonly reason!: string;

  @ApiProperty({
    enum: POD_ACTION_NAMES,
    isArray: true,
    description: 'What may be asked of it in its present status.',
    example: ['stop', 'restart', 'terminate'],
  })
  readonly actions!: readonly PodAction[];

  @ApiProperty({ description: 'Container image.', example: 'registry.example.com/team/trainer:2.0' })
  readonly image!: string;

  @ApiProperty({ description: 'Arguments of the entrypoint.', example: '--epochs 3' })
  readonly args!: string;

  @ApiProperty({ type: 'integer', minimum: 2, description: "GB of the container's own disk.", example: 50 })
  readonly disk!: number;

  @ApiProperty({ description: 'Disks and volumes that outlive the container.' })
  readonly mounts!: PodMountsBody;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Environment variables, shown to the own account only.',
    example: { MODEL: 'llama' },
  })
  readonly env!: Readonly<Record<string, string>>;

  @ApiProperty({ type: [String], description: 'Each port/protocol.', example: ['8888/http', '22/tcp'] })
  readonly ports!: readonly string[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Credentials for a private image; null: none.',
    example: null,
  })
  readonly registry!: string | null;

  @ApiProperty({ required: false, description: 'Absent for a CPU pod.' })
  readonly gpu?: PodGpuBody;

  @ApiProperty({ required: false, description: 'Absent for a GPU pod.' })
  readonly cpu?: PodCpuBody;

  @ApiProperty({
    enum: CLOUDS,
    description: "Whose host: every one is the operator's own, `SECURE`.",
    example: 'SECURE',
  })
  readonly cloud!: Cloud;

  @ApiProperty({ type: String, nullable: true, description: 'Null until it is placed.', example: 'LOCAL-1' })
  readonly dataCenterId!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: "Of its host's driver; null: not known, or there is none.",
    example: '12.8',
  })
  readonly cudaVersion!: string | null;

  @ApiProperty({ description: 'How to connect.' })
  readonly ssh!: PodSshBody;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The template that it was made from; null: none.',
    example: null,
  })
  readonly template!: string | null;

  @ApiProperty({ type: Number, minimum: 0, description: 'USD per hour; 0 while it is stopped.', example: 2.5 })
  readonly cost!: number;

  @ApiProperty({ description: 'It may be neither stopped nor reset.', example: false })
  readonly locked!: boolean;

  @ApiProperty({ description: 'Whether pods of other data centers reach it.' })
  readonly globalNetworking!: GlobalNetworkingBody;

  @ApiProperty({
    type: () => PodRuntimeBody,
    nullable: true,
    description: 'Null unless it is RUNNING and was measured.',
  })
  readonly runtime!: PodRuntimeBody | null;

  @ApiProperty({ format: 'date-time', description: 'When it was asked for.', example: '2026-01-01T12:00:00.000Z' })
  readonly createdAt!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When its present container started; null before.',
    example: '2026-01-01T12:00:30.000Z',
  })
  readonly startedAt!: string | null;

  @ApiProperty({ required: false, description: 'Its place in its cluster. Absent for a pod of its own.' })
  readonly cluster?: ClusterMembershipBody;
}

export class PodListBody {
  @ApiProperty({ type: () => [PodBody], description: 'Oldest first.' })
  readonly pods!: readonly PodBody[];
}

export class ClusterPodListBody {
  @ApiProperty({ type: () => [PodBody], description: 'By rank; those that have none yet come last.' })
  readonly pods!: readonly PodBody[];
}
