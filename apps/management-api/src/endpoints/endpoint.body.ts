import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import type { EndpointType, Flashboot, LoadBalancerUrls, QueueUrls } from '@berth/domain';
import { SCALING_SCHEMA, type ScalingDto } from './scaling.dto.js';

export class QueueUrlsBody implements QueueUrls {
  @ApiProperty({ format: 'uri' })
  readonly run!: string;

  @ApiProperty({ format: 'uri' })
  readonly runSync!: string;

  @ApiProperty({ description: 'Ends in the placeholder {job_id}.' })
  readonly status!: string;

  @ApiProperty({ description: 'Ends in the placeholder {job_id}.' })
  readonly stream!: string;

  @ApiProperty({ description: 'Ends in the placeholder {job_id}.' })
  readonly cancel!: string;

  @ApiProperty({ description: 'Ends in the placeholder {job_id}.' })
  readonly retry!: string;

  @ApiProperty({ format: 'uri' })
  readonly purgeQueue!: string;

  @ApiProperty({ format: 'uri' })
  readonly health!: string;
}

export class LoadBalancerUrlsBody implements LoadBalancerUrls {
  @ApiProperty({ format: 'uri', description: 'Prefix of every path that the workers define.' })
  readonly base!: string;

  @ApiProperty({ format: 'uri', description: 'What is polled; its path is HEALTH_CHECK_PATH of the environment.' })
  readonly health!: string;
}

export class GpuBody {
  @ApiProperty({ type: [String] })
  readonly pools!: readonly string[];

  @ApiProperty({ type: [String] })
  readonly excludedTypes!: readonly string[];

  @ApiProperty({ type: 'integer', minimum: 1 })
  readonly count!: number;

  @ApiProperty({ type: [String], description: 'Empty: any.' })
  readonly allowedCudaVersions!: readonly string[];

  @ApiProperty({ type: String, nullable: true, description: 'Null: no floor.' })
  readonly minCudaVersion!: string | null;
}

export class CpuConfigBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty({ type: 'integer', minimum: 2 })
  readonly vcpuCount!: number;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'GB.' })
  readonly memory!: number;
}

export class WorkerRangeBody {
  @ApiProperty({ type: 'integer' })
  readonly min!: number;

  @ApiProperty({ type: 'integer' })
  readonly max!: number;

  @ApiProperty({ type: 'integer', required: false, description: 'Absent for QUEUE with REQUEST_COUNT.' })
  readonly idleTimeout?: number;
}

@ApiExtraModels(QueueUrlsBody, LoadBalancerUrlsBody)
export class EndpointBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ enum: ['QUEUE', 'LOAD_BALANCER'] })
  readonly type!: EndpointType;

  @ApiProperty({ oneOf: [QueueUrlsBody, LoadBalancerUrlsBody].map((body) => ({ $ref: getSchemaPath(body) })) })
  readonly requestUrls!: QueueUrlsBody | LoadBalancerUrlsBody;

  @ApiProperty()
  readonly image!: string;

  @ApiProperty()
  readonly args!: string;

  @ApiProperty({ type: 'integer', required: false, description: "GB. Absent: the operator's default." })
  readonly disk?: number;

  @ApiProperty({ type: [String] })
  readonly ports!: readonly string[];

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' } })
  readonly env!: Readonly<Record<string, string>>;

  @ApiProperty({ type: String, nullable: true })
  readonly registry!: string | null;

  @ApiProperty({ type: () => GpuBody, nullable: true, description: 'Null for a CPU endpoint.' })
  readonly gpu!: GpuBody | null;

  @ApiProperty({ type: () => [CpuConfigBody], required: false, description: 'Absent for a GPU endpoint.' })
  readonly cpu?: readonly CpuConfigBody[];

  @ApiProperty()
  readonly workers!: WorkerRangeBody;

  @ApiProperty(SCALING_SCHEMA)
  readonly scaling!: ScalingDto;

  @ApiProperty({ type: [String] })
  readonly dataCenterIds!: readonly string[];

  @ApiProperty({ type: [String] })
  readonly networkVolumes!: readonly string[];

  @ApiProperty({ type: 'integer', description: 'Milliseconds.' })
  readonly timeout!: number;

  @ApiProperty({ enum: ['OFF', 'FLASHBOOT', 'PRIORITY_FLASHBOOT'] })
  readonly flashboot!: Flashboot;

  @ApiProperty({ format: 'date-time' })
  readonly createdAt!: string;
}

export class EndpointListBody {
  @ApiProperty({ type: () => [EndpointBody], description: 'Oldest first.' })
  readonly endpoints!: readonly EndpointBody[];
}
