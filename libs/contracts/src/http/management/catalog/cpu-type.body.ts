import { ApiProperty } from '@nestjs/swagger';
import { AVAILABILITY_LEVELS, type AvailabilityLevel } from '@berth/domain';
import { AvailabilityBody } from './gpu-type.body.js';

export class VcpuRangeBody {
  @ApiProperty({ type: 'integer', description: 'The smallest size.', example: 2 })
  readonly min!: number;

  @ApiProperty({ type: 'integer', description: 'The largest size.', example: 32 })
  readonly max!: number;
}

export class CpuPriceBody {
  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'USD per hour and vCPU of a pod; null: no price is published.',
    example: 0.03,
  })
  readonly securePerVcpu!: number | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'USD per hour and vCPU of a worker; null: no price is published.',
    example: 0.036,
  })
  readonly serverlessPerVcpu!: number | null;
}

export class CpuTypeBody {
  @ApiProperty({ description: 'As `cpu[].id` of an endpoint takes it.', example: 'cpu3c' })
  readonly id!: string;

  @ApiProperty({ description: 'For people.', example: 'Compute-Optimized' })
  readonly name!: string;

  @ApiProperty({ description: 'Generation of the processors.', example: 'Gen 3' })
  readonly group!: string;

  @ApiProperty({ description: 'Sizes; only powers of two.' })
  readonly vcpu!: VcpuRangeBody;

  @ApiProperty({ type: Number, description: 'GB. The memory of a worker is whole GB.', example: 2 })
  readonly ramGbPerVcpu!: number;

  @ApiProperty({ description: 'Published list prices.' })
  readonly price!: CpuPriceBody;

  @ApiProperty({
    enum: AVAILABILITY_LEVELS,
    required: false,
    description:
      'Room for workers of the size asked for, by what is free on the hosts: `LOW` below 3, `MEDIUM` below 10, else `HIGH`. Only with `include=AVAILABILITY`.',
    example: 'HIGH',
  })
  readonly availability?: AvailabilityLevel;

  @ApiProperty({
    type: () => [AvailabilityBody],
    required: false,
    description: 'Those with a host large enough, free or not. Only with `include=AVAILABILITY`.',
  })
  readonly dataCenters?: readonly AvailabilityBody[];
}

export class CpuTypeListBody {
  @ApiProperty({ type: () => [CpuTypeBody], description: 'The published flavors.' })
  readonly cpus!: readonly CpuTypeBody[];
}
