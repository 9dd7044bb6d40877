import { ApiProperty } from '@nestjs/swagger';
import type { HostIntent, Inventory, WorkerStatus } from '@berth/domain';

export class JoinTokenBody {
  @ApiProperty()
  readonly hostId!: string;

  @ApiProperty({ description: 'For one use. It is shown this once.' })
  readonly token!: string;

  @ApiProperty({ format: 'date-time' })
  readonly expiresAt!: string;
}

export class HostGpuBody {
  @ApiProperty({ type: 'integer' })
  readonly index!: number;

  @ApiProperty()
  readonly typeId!: string;

  @ApiProperty({ type: 'integer' })
  readonly memoryBytes!: number;
}

export class InventoryBody {
  @ApiProperty({ type: 'integer' })
  readonly vcpus!: number;

  @ApiProperty({ description: 'More vCPU are reported than the machine has.' })
  readonly isOvercommitted!: boolean;

  @ApiProperty({ type: 'integer' })
  readonly memoryBytes!: number;

  @ApiProperty({ type: 'integer' })
  readonly diskBytes!: number;

  @ApiProperty({ type: () => [HostGpuBody] })
  readonly gpus!: readonly HostGpuBody[];

  @ApiProperty({ description: 'The GPUs are pretended, for trying Berth without one.' })
  readonly areGpusSimulated!: boolean;

  @ApiProperty({ type: String, nullable: true, description: "The driver's highest version." })
  readonly cudaVersion!: string | null;

  @ApiProperty({ enum: ['docker', 'process', 'kubernetes'] })
  readonly runtime!: Inventory['runtime'];

  @ApiProperty({ type: [String], description: 'Images that are present.' })
  readonly images!: readonly string[];
}

export class HostBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty()
  readonly dataCenterId!: string;

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' } })
  readonly labels!: Readonly<Record<string, string>>;

  @ApiProperty({ enum: ['ready', 'cordoned', 'draining'] })
  readonly state!: HostIntent;

  @ApiProperty({ description: 'It reports, and new workers may be placed on it unless its state forbids it.' })
  readonly isOnline!: boolean;

  @ApiProperty({ type: () => InventoryBody, nullable: true, description: 'Null until the host has joined.' })
  readonly inventory!: InventoryBody | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly lastSeenAt!: string | null;

  @ApiProperty({ format: 'date-time' })
  readonly createdAt!: string;
}

export class HostWorkerBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty()
  readonly endpointId!: string;

  @ApiProperty({ enum: ['RUNNING', 'IDLE', 'INITIALIZING', 'THROTTLED', 'UNHEALTHY'] })
  readonly status!: WorkerStatus;

  @ApiProperty()
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
