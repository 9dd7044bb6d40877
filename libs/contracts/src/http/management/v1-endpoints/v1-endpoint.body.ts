import { ApiProperty } from '@nestjs/swagger';

export class V1EndpointBody {
  @ApiProperty({ example: 'k3v9x0q2m7a1zd' })
  readonly id!: string;

  @ApiProperty({ example: 'llama' })
  readonly name!: string;

  @ApiProperty({ description: 'As it was sent: the endpoint is a copy.', example: 'k3v9x0q2m7a1zd' })
  readonly templateId!: string;

  @ApiProperty({ description: 'What its workers have.', enum: ['GPU', 'CPU'], example: 'GPU' })
  readonly computeType!: 'GPU' | 'CPU';

  @ApiProperty({ type: [String], description: 'The first the best; empty for CPU.', example: ['NVIDIA L4'] })
  readonly gpuTypeIds!: readonly string[];

  @ApiProperty({ type: 'integer', minimum: 0, description: 'GPUs per worker; 0 for CPU.', example: 1 })
  readonly gpuCount!: number;

  @ApiProperty({ type: [String], description: 'Empty: any.', example: [] })
  readonly allowedCudaVersions!: readonly string[];

  @ApiProperty({ type: String, nullable: true, description: 'Null: no floor.', example: '12.1' })
  readonly minCudaVersion!: string | null;

  @ApiProperty({
    type: [String],
    description: 'Flavor, vCPU and GB of memory; empty for GPU.',
    example: ['cpu3g-4-16'],
  })
  readonly instanceIds!: readonly string[];

  @ApiProperty({ description: 'Workers kept without any demand.', type: 'integer', example: 0 })
  readonly workersMin!: number;

  @ApiProperty({ description: 'Never exceeded.', type: 'integer', example: 3 })
  readonly workersMax!: number;

  @ApiProperty({ type: 'integer', required: false, description: 'Seconds. Absent for REQUEST_COUNT.', example: 10 })
  readonly idleTimeout?: number;

  @ApiProperty({ description: 'The scaler.', enum: ['QUEUE_DELAY', 'REQUEST_COUNT'], example: 'QUEUE_DELAY' })
  readonly scalerType!: 'QUEUE_DELAY' | 'REQUEST_COUNT';

  @ApiProperty({
    description: 'Seconds that a job may wait, or requests in flight for which one worker is wanted.',
    type: 'integer',
    example: 4,
  })
  readonly scalerValue!: number;

  @ApiProperty({ type: 'integer', description: 'Milliseconds.', example: 300_000 })
  readonly executionTimeoutMs!: number;

  @ApiProperty({ example: false })
  readonly flashboot!: boolean;

  @ApiProperty({ type: [String], example: [] })
  readonly dataCenterIds!: readonly string[];

  @ApiProperty({ type: String, nullable: true, description: 'The first of networkVolumeIds.', example: null })
  readonly networkVolumeId!: string | null;

  @ApiProperty({ description: 'Ids of its network volumes.', type: [String], example: [] })
  readonly networkVolumeIds!: readonly string[];

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: "With the template's.",
    example: { MODEL: 'llama' },
  })
  readonly env!: Readonly<Record<string, string>>;

  @ApiProperty({ description: 'The account.', example: 'default' })
  readonly userId!: string;

  @ApiProperty({ type: 'integer', description: 'The latest release.', example: 1 })
  readonly version!: number;

  @ApiProperty({ format: 'date-time', example: '2026-01-01T12:00:00.000Z' })
  readonly createdAt!: string;
}
