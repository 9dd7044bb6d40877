import { ApiProperty } from '@nestjs/swagger';
import {
  COMPLIANCE,
  NETWORK_VOLUME_TYPES,
  REGIONS,
  type Compliance,
  type NetworkVolumeType,
  type Region,
} from '@berth/domain';
import { AvailabilityBody } from './gpu-type.body.js';

export class DataCenterBody {
  @ApiProperty({ description: "A published id, or the operator's own.", example: 'EU-RO-1' })
  readonly id!: string;

  @ApiProperty({ description: 'For people.', example: 'EU-RO-1' })
  readonly name!: string;

  @ApiProperty({ enum: REGIONS, description: "`UNKNOWN` for the operator's own ids.", example: 'EUROPE' })
  readonly region!: Region;

  @ApiProperty({
    description: 'Whether pods reach those of other data centers over a network of their own.',
    example: false,
  })
  readonly globalNetwork!: boolean;

  @ApiProperty({
    enum: NETWORK_VOLUME_TYPES,
    isArray: true,
    description: 'Volumes that can be made there.',
    example: ['STANDARD', 'HIGH_PERFORMANCE'],
  })
  readonly networkVolumeTypes!: readonly NetworkVolumeType[];

  @ApiProperty({ enum: COMPLIANCE, isArray: true, description: 'What it is certified for.', example: [] })
  readonly compliance!: readonly Compliance[];

  @ApiProperty({
    type: () => [AvailabilityBody],
    required: false,
    description:
      'GPU types that its hosts have, with the room for workers with one GPU. Only with `include=GPU_AVAILABILITY`.',
    example: [{ id: 'NVIDIA L4', name: 'L4', availability: 'MEDIUM' }],
  })
  readonly gpuAvailability?: readonly AvailabilityBody[];

  @ApiProperty({
    type: () => [AvailabilityBody],
    required: false,
    description:
      'CPU flavors that its hosts can run, with the room for workers of the smallest size. Only with `include=CPU_AVAILABILITY`.',
    example: [{ id: 'cpu3c', name: 'Compute-Optimized', availability: 'HIGH' }],
  })
  readonly cpuAvailability?: readonly AvailabilityBody[];
}

export class DataCenterListBody {
  @ApiProperty({
    type: () => [DataCenterBody],
    description: 'The published ones, then those that only hosts name, by id.',
  })
  readonly dataCenters!: readonly DataCenterBody[];
}
