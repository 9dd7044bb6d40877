import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import {
  FLASHBOOT_MODES,
  type EndpointType,
  type Flashboot,
  type LoadBalancerAccess,
  type LoadBalancerUrls,
  type QueueUrls,
} from '@berth/domain';
import { SCALING_SCHEMA, type ScalingDto } from './scaling.dto.js';

export class QueueUrlsBody implements QueueUrls {
  @ApiProperty({
    description: 'POST a job; its id comes back at once.',
    format: 'uri',
    example: 'https://jobs.example.com/v2/k3v9x0q2m7a1zd/run',
  })
  readonly run!: string;

  @ApiProperty({
    description: 'POST a job and wait for its output.',
    format: 'uri',
    example: 'https://jobs.example.com/v2/k3v9x0q2m7a1zd/runsync',
  })
  readonly runSync!: string;

  @ApiProperty({
    description: 'Ends in the placeholder {job_id}.',
    example: 'https://jobs.example.com/v2/k3v9x0q2m7a1zd/status/{job_id}',
  })
  readonly status!: string;

  @ApiProperty({
    description: 'Ends in the placeholder {job_id}.',
    example: 'https://jobs.example.com/v2/k3v9x0q2m7a1zd/stream/{job_id}',
  })
  readonly stream!: string;

  @ApiProperty({
    description: 'Ends in the placeholder {job_id}.',
    example: 'https://jobs.example.com/v2/k3v9x0q2m7a1zd/cancel/{job_id}',
  })
  readonly cancel!: string;

  @ApiProperty({
    description: 'Ends in the placeholder {job_id}.',
    example: 'https://jobs.example.com/v2/k3v9x0q2m7a1zd/retry/{job_id}',
  })
  readonly retry!: string;

  @ApiProperty({
    description: 'POST to remove every job that waits.',
    format: 'uri',
    example: 'https://jobs.example.com/v2/k3v9x0q2m7a1zd/purge-queue',
  })
  readonly purgeQueue!: string;

  @ApiProperty({
    description: 'GET counts of jobs and workers.',
    format: 'uri',
    example: 'https://jobs.example.com/v2/k3v9x0q2m7a1zd/health',
  })
  readonly health!: string;
}

export class LoadBalancerUrlsBody implements LoadBalancerUrls {
  @ApiProperty({
    format: 'uri',
    description: 'Prefix of every path that the workers define.',
    example: 'https://k3v9x0q2m7a1zd.lb.example.com',
  })
  readonly base!: string;

  @ApiProperty({
    format: 'uri',
    description: 'What is polled; its path is HEALTH_CHECK_PATH of the environment.',
    example: 'https://k3v9x0q2m7a1zd.lb.example.com/ping',
  })
  readonly health!: string;
}

export class GpuBody {
  @ApiProperty({
    description: 'GPU pools of the catalog, in order of preference.',
    type: [String],
    example: ['ADA_24', 'AMPERE_24'],
  })
  readonly pools!: readonly string[];

  @ApiProperty({ description: 'GPU types taken out of the pools.', type: [String], example: ['NVIDIA L4'] })
  readonly excludedTypes!: readonly string[];

  @ApiProperty({ description: 'GPUs per worker, all of one type.', type: 'integer', minimum: 1, example: 1 })
  readonly count!: number;

  @ApiProperty({ type: [String], description: 'Empty: any.', example: [] })
  readonly allowedCudaVersions!: readonly string[];

  @ApiProperty({ type: String, nullable: true, description: 'Null: no floor.', example: '12.1' })
  readonly minCudaVersion!: string | null;
}

export class CpuConfigBody {
  @ApiProperty({ example: 'cpu3c' })
  readonly id!: string;

  @ApiProperty({ description: 'vCPU per worker.', type: 'integer', minimum: 2, example: 4 })
  readonly vcpuCount!: number;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'GB.', example: 8 })
  readonly memory!: number;
}

export class WorkerRangeBody {
  @ApiProperty({ description: 'Workers kept without any demand.', type: 'integer', example: 0 })
  readonly min!: number;

  @ApiProperty({ description: 'Never exceeded.', type: 'integer', example: 3 })
  readonly max!: number;

  @ApiProperty({ type: 'integer', required: false, description: 'Absent for QUEUE with REQUEST_COUNT.', example: 10 })
  readonly idleTimeout?: number;
}

export class LoadBalancerAccessBody implements LoadBalancerAccess {
  @ApiProperty({ description: 'Every request.', example: false })
  readonly isPublic!: boolean;

  @ApiProperty({ description: 'CORS preflights.', example: true })
  readonly allowsPreflights!: boolean;
}

@ApiExtraModels(QueueUrlsBody, LoadBalancerUrlsBody)
export class EndpointBody {
  @ApiProperty({ example: 'k3v9x0q2m7a1zd' })
  readonly id!: string;

  @ApiProperty({ example: 'llama' })
  readonly name!: string;

  @ApiProperty({
    description: 'Routing: through a queue, or straight to the workers.',
    enum: ['QUEUE', 'LOAD_BALANCER'],
    example: 'QUEUE',
  })
  readonly type!: EndpointType;

  @ApiProperty({
    description: 'Where requests go, by its type.',
    oneOf: [QueueUrlsBody, LoadBalancerUrlsBody].map((body) => ({ $ref: getSchemaPath(body) })),
  })
  readonly requestUrls!: QueueUrlsBody | LoadBalancerUrlsBody;

  @ApiProperty({ example: 'registry.example.com/team/worker:1.4' })
  readonly image!: string;

  @ApiProperty({ example: '--model llama' })
  readonly args!: string;

  @ApiProperty({ type: 'integer', required: false, description: "GB. Absent: the operator's default.", example: 20 })
  readonly disk?: number;

  @ApiProperty({ type: [String], description: 'As they were said; none is published.', example: ['8080/http'] })
  readonly ports!: readonly string[];

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { MODEL: 'llama' } })
  readonly env!: Readonly<Record<string, string>>;

  @ApiProperty({ type: String, nullable: true, example: null })
  readonly registry!: string | null;

  @ApiProperty({ type: () => GpuBody, nullable: true, description: 'Null for a CPU endpoint.' })
  readonly gpu!: GpuBody | null;

  @ApiProperty({ type: () => [CpuConfigBody], required: false, description: 'Absent for a GPU endpoint.' })
  readonly cpu?: readonly CpuConfigBody[];

  @ApiProperty({ description: 'Range of the number of workers.' })
  readonly workers!: WorkerRangeBody;

  @ApiProperty({ ...SCALING_SCHEMA, description: 'How many workers are wanted.' })
  readonly scaling!: ScalingDto;

  @ApiProperty({ type: [String], example: ['LOCAL-1'] })
  readonly dataCenterIds!: readonly string[];

  @ApiProperty({
    description: 'Ids of its network volumes: a worker has the first that lies in its data center.',
    type: [String],
    example: [],
  })
  readonly networkVolumes!: readonly string[];

  @ApiProperty({ type: 'integer', description: 'Milliseconds.', example: 300_000 })
  readonly timeout!: number;

  @ApiProperty({ enum: FLASHBOOT_MODES, example: 'OFF' })
  readonly flashboot!: Flashboot;

  @ApiProperty({
    type: () => LoadBalancerAccessBody,
    required: false,
    description: 'What needs no API key. Absent: nothing was said, so everything needs one.',
  })
  readonly loadBalancer?: LoadBalancerAccessBody;

  @ApiProperty({ format: 'date-time', example: '2026-01-01T12:00:00.000Z' })
  readonly createdAt!: string;
}

export class EndpointListBody {
  @ApiProperty({ type: () => [EndpointBody], description: 'Oldest first.' })
  readonly endpoints!: readonly EndpointBody[];
}
