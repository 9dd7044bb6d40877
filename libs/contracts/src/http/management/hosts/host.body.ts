import { ApiProperty } from '@nestjs/swagger';
import { RUNTIME_KINDS, type HostIntent, type ImageAhead, type RuntimeKind, type WorkerStatus } from '@berth/domain';

export class JoinTokenBody {
  @ApiProperty()
  readonly hostId!: string;

  @ApiProperty({
    description: 'For one use. It is shown this once.',
    example: 'bjt_k3v9x0q2m7a1zd_q8w2e5r1t6y9ui3o4p7a0s1dq8w2e5r1t6y9ui3o',
  })
  readonly token!: string;

  @ApiProperty({ format: 'date-time', description: 'End of its life.' })
  readonly expiresAt!: string;
}

export class HostGpuBody {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Place among the GPUs of the host.', example: 0 })
  readonly index!: number;

  @ApiProperty({
    required: false,
    description: 'What the driver calls the card, or the slice of one; absent where it has no such name.',
    example: 'GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77',
  })
  readonly uuid?: string;

  @ApiProperty({ description: 'GPU type of the catalog.', example: 'NVIDIA GeForce RTX 4090' })
  readonly typeId!: string;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Memory of the GPU.', example: 25_769_803_776 })
  readonly memoryBytes!: number;
}

export class VolumeStorageBody {
  @ApiProperty({
    description: 'Hosts that name the same one see the same files. A volume stays on the storage that had it first.',
    example: 'k3v9x0q2m7a1zd',
  })
  readonly storageId!: string;
}

const AHEAD_STATES: readonly ImageAhead['state'][] = ['pending', 'ready', 'failed'];

export class ImageAheadBody {
  @ApiProperty({ example: 'k3v9x0q2m7a1zd' })
  readonly endpointId!: string;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'The release whose image it is.', example: 2 })
  readonly release!: number;

  @ApiProperty({ enum: AHEAD_STATES, description: '`failed`: it is not tried again for this release.' })
  readonly state!: ImageAhead['state'];

  @ApiProperty({ description: 'Why the last try failed; else empty.', example: '' })
  readonly reason!: string;
}

export class InventoryBody {
  @ApiProperty({ type: 'number', minimum: 0, description: 'vCPU for workers.', example: 64 })
  readonly vcpus!: number;

  @ApiProperty({ description: 'More vCPU are reported than the machine has.', example: false })
  readonly isOvercommitted!: boolean;

  @ApiProperty({ type: 'number', minimum: 0, description: 'Memory for workers.', example: 274_877_906_944 })
  readonly memoryBytes!: number;

  @ApiProperty({ type: 'number', minimum: 0, description: 'Disk for workers.', example: 1_099_511_627_776 })
  readonly diskBytes!: number;

  @ApiProperty({ type: () => [HostGpuBody], description: 'Empty: a host for CPU endpoints.' })
  readonly gpus!: readonly HostGpuBody[];

  @ApiProperty({ description: 'The GPUs are pretended, for trying Berth without one.', example: false })
  readonly areGpusSimulated!: boolean;

  @ApiProperty({ type: String, nullable: true, description: "The driver's highest version.", example: '12.4' })
  readonly cudaVersion!: string | null;

  @ApiProperty({ enum: RUNTIME_KINDS, description: 'How it runs workers.' })
  readonly runtime!: RuntimeKind;

  @ApiProperty({ type: [String], description: 'Images that are present.', example: ['local/echo'] })
  readonly images!: readonly string[];

  @ApiProperty({
    type: () => [ImageAheadBody],
    required: false,
    description: 'Images that it prepares for releases to come; absent of a host that prepares none.',
  })
  readonly imagesAhead?: readonly ImageAheadBody[];

  @ApiProperty({
    type: () => VolumeStorageBody,
    nullable: true,
    required: false,
    description: 'Where it keeps network volumes. Absent or null: it keeps none, or cannot reach them now.',
  })
  readonly volumes?: VolumeStorageBody | null;

  @ApiProperty({
    required: false,
    description: 'Version of Berth that its agent is of; absent of an agent that does not say.',
    example: '0.1.0',
  })
  readonly agentVersion?: string;
}

export class HostBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty()
  readonly dataCenterId!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: "The operator's own words about the host.",
    example: { rack: '7' },
  })
  readonly labels!: Readonly<Record<string, string>>;

  @ApiProperty({
    enum: ['ready', 'cordoned', 'draining'],
    description: '`cordoned`: it gets no new workers. `draining`: its workers leave as well.',
  })
  readonly state!: HostIntent;

  @ApiProperty({ description: 'It reports, and new workers may be placed on it unless its state forbids it.' })
  readonly isOnline!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Why it is suspect: workers of several endpoints fail on it and nowhere else, so new ones go there last.',
    example: null,
  })
  readonly suspectBecause!: string | null;

  @ApiProperty({ type: () => InventoryBody, nullable: true, description: 'Null until the host has joined.' })
  readonly inventory!: InventoryBody | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Its last report; null before the first.',
  })
  readonly lastSeenAt!: string | null;

  @ApiProperty({ format: 'date-time' })
  readonly createdAt!: string;
}

export class HostWorkerBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty()
  readonly endpointId!: string;

  @ApiProperty({
    enum: ['RUNNING', 'IDLE', 'INITIALIZING', 'THROTTLED', 'UNHEALTHY'],
    description: 'As the host reports it.',
  })
  readonly status!: WorkerStatus;

  @ApiProperty({
    description: 'Why it is in this state; empty when there is nothing to say.',
    example: 'pulling the image',
  })
  readonly reason!: string;
}

export class HostDetailBody extends HostBody {
  @ApiProperty({ type: () => [HostWorkerBody], description: 'Oldest first.' })
  readonly workers!: readonly HostWorkerBody[];
}

export class HostListBody {
  @ApiProperty({ type: () => [HostBody], description: 'Oldest first.' })
  readonly hosts!: readonly HostBody[];
}
