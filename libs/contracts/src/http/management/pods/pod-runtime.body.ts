import { ApiProperty } from '@nestjs/swagger';

export class GpuUtilizationBody {
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100, description: 'Per cent.', example: 94 })
  readonly util!: number;

  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100, description: 'Per cent of its memory.', example: 78 })
  readonly memoryUtil!: number;
}

export class UtilizationBody {
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100, description: 'Per cent.', example: 35 })
  readonly util!: number;
}

export class PodPortBody {
  @ApiProperty({ type: 'integer', description: 'Inside the container.', example: 8888 })
  readonly private!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'As it is reached; null: not over its own address.',
    example: 43_210,
  })
  readonly public!: number | null;

  @ApiProperty({ enum: ['http', 'tcp', 'udp'], description: 'Protocol.', example: 'http' })
  readonly type!: 'http' | 'tcp' | 'udp';

  @ApiProperty({ type: String, nullable: true, description: 'Null: not over its own address.', example: '192.0.2.7' })
  readonly ip!: string | null;
}

/** The last measurement of a running pod. */
export class PodRuntimeBody {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Seconds since the container started.', example: 3_600 })
  readonly uptime!: number;

  @ApiProperty({ type: () => [GpuUtilizationBody], description: 'In the order in which the container sees its GPUs.' })
  readonly gpus!: readonly GpuUtilizationBody[];

  @ApiProperty({ description: 'Of all vCPU together.' })
  readonly cpu!: UtilizationBody;

  @ApiProperty({ description: 'Of its memory.' })
  readonly memory!: UtilizationBody;

  @ApiProperty({ type: () => [PodPortBody], description: 'Its ports as they can be reached.' })
  readonly ports!: readonly PodPortBody[];
}
