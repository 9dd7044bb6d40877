import { ApiProperty } from '@nestjs/swagger';
import { AVAILABILITY_LEVELS, type AvailabilityLevel, type GpuManufacturer } from '@berth/domain';

/** A data center, GPU type or CPU flavor with how easily something is had there, or of it. */
export class AvailabilityBody {
  @ApiProperty({ description: 'Id of it in its catalog.', example: 'EU-RO-1' })
  readonly id!: string;

  @ApiProperty({ description: 'For people.', example: 'EU-RO-1' })
  readonly name!: string;

  @ApiProperty({ enum: AVAILABILITY_LEVELS, description: 'By the room that there is now.', example: 'MEDIUM' })
  readonly availability!: AvailabilityLevel;
}

export class CudaVersionBody {
  @ApiProperty({ description: '`major.minor`, as `gpu.allowedCudaVersions` takes it.', example: '12.8' })
  readonly version!: string;

  @ApiProperty({ description: 'Whether a host with it has room now.', example: true })
  readonly available!: boolean;
}

export class GpuPriceBody {
  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'USD per hour and GPU of a pod; null: no price is published.',
    example: null,
  })
  readonly secure!: number | null;

  @ApiProperty({ type: Number, nullable: true, description: 'As `secure`.', example: null })
  readonly community!: number | null;

  @ApiProperty({
    type: Number,
    required: false,
    description: 'USD per hour and GPU of a worker. Absent: in no pool, or no price is published.',
    example: 1.116,
  })
  readonly serverless?: number;
}

export class GpuMaxCountBody {
  @ApiProperty({
    type: 'integer',
    description: 'GPUs of this type in the largest host; 0: no host has any.',
    example: 8,
  })
  readonly secure!: number;

  @ApiProperty({ type: 'integer', description: "0: every host is the operator's own.", example: 0 })
  readonly community!: number;
}

export class GpuTypeBody {
  @ApiProperty({
    description: 'What the driver calls it; encode the blanks in a path.',
    example: 'NVIDIA GeForce RTX 4090',
  })
  readonly id!: string;

  @ApiProperty({ description: 'For people.', example: 'RTX 4090' })
  readonly name!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The pool that endpoints name in `gpu.pools`; null: in none.',
    example: 'ADA_24',
  })
  readonly pool!: string | null;

  @ApiProperty({ enum: ['NVIDIA', 'AMD', 'UNKNOWN'], description: 'Who makes it.', example: 'NVIDIA' })
  readonly manufacturer!: GpuManufacturer;

  @ApiProperty({ type: 'integer', description: 'GB of one GPU.', example: 24 })
  readonly memory!: number;

  @ApiProperty({ description: "Whether one of the operator's hosts has it.", example: true })
  readonly secure!: boolean;

  @ApiProperty({ description: "False: every host is the operator's own.", example: false })
  readonly community!: boolean;

  @ApiProperty({ description: 'Published list prices.' })
  readonly price!: GpuPriceBody;

  @ApiProperty({ description: 'The most GPUs that one worker or pod can have, free or not.' })
  readonly maxCount!: GpuMaxCountBody;

  @ApiProperty({
    description: 'Whether a host only pretends to have it, for trying Berth without one.',
    example: false,
  })
  readonly areGpusSimulated!: boolean;

  @ApiProperty({
    enum: AVAILABILITY_LEVELS,
    required: false,
    description:
      'Room for workers of the size asked for, by what is free on the hosts: `LOW` below 3, `MEDIUM` below 10, else `HIGH`. Only with `include=AVAILABILITY`.',
    example: 'MEDIUM',
  })
  readonly availability?: AvailabilityLevel;

  @ApiProperty({
    type: () => [AvailabilityBody],
    required: false,
    description: 'Those with a host that has it in the size asked for, free or not. Only with `include=AVAILABILITY`.',
  })
  readonly dataCenters?: readonly AvailabilityBody[];

  @ApiProperty({
    type: () => [CudaVersionBody],
    required: false,
    description: "What the hosts' drivers offer, newest first. Only with `include=AVAILABILITY`.",
  })
  readonly cudaVersions?: readonly CudaVersionBody[];
}

export class GpuTypeListBody {
  @ApiProperty({
    type: () => [GpuTypeBody],
    description: 'The published types, then those that only hosts report, by name.',
  })
  readonly gpus!: readonly GpuTypeBody[];
}
