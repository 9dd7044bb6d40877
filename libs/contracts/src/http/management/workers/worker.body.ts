import { ApiProperty } from '@nestjs/swagger';
import type { WorkerStatus } from '@berth/domain';
import { RolloutBody } from '../releases/rollout.body.js';

const STATUSES = ['RUNNING', 'IDLE', 'INITIALIZING', 'THROTTLED', 'UNHEALTHY'];

export class WorkerBody {
  @ApiProperty({
    description:
      'A worker that is `THROTTLED` and has no host has no id of its own yet: it is `throttled-1` and so on.',
    example: 'w4k9x0q2m7a1zd',
  })
  readonly id!: string;

  @ApiProperty({
    description:
      '`RUNNING`: has work. `IDLE`: waits for some. `INITIALIZING`: not there yet. `THROTTLED`: wanted, and its host, or any host, has no room for it. `UNHEALTHY`: its starts fail.',
    enum: STATUSES,
    example: 'RUNNING',
  })
  readonly status!: WorkerStatus;

  @ApiProperty({ description: 'Why it is in this state; empty when there is nothing to say.', example: '' })
  readonly reason!: string;

  @ApiProperty({
    description: 'What its host does not keep of what was asked for, one sentence each; absent when all is kept.',
    required: false,
    type: [String],
    example: ["The disk limit of 20 GB is not kept: the storage of the host's engine cannot."],
  })
  readonly notes?: readonly string[];

  @ApiProperty({ description: "It runs an older release than the endpoint's latest.", example: false })
  readonly isStale!: boolean;

  @ApiProperty({ type: 'integer', description: 'Its release.', example: 3 })
  readonly version!: number;

  @ApiProperty({ required: false, example: 'registry.example.com/team/worker:1.4' })
  readonly image?: string;

  @ApiProperty({ type: 'integer', example: 1 })
  readonly gpuCount!: number;

  @ApiProperty({ required: false, example: 'NVIDIA GeForce RTX 4090' })
  readonly gpuTypeId?: string;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'How often its restart was asked for.',
    example: 0,
  })
  readonly restarts!: number;

  @ApiProperty({ description: 'Absent while it has no host.', required: false, example: 'h7b2c5d8e1f4g9' })
  readonly hostId?: string;

  @ApiProperty({ description: 'Absent while it has no host.', required: false, example: 'EU-RO-1' })
  readonly dataCenterId?: string;

  @ApiProperty({
    description: 'Absent before its container has started.',
    required: false,
    format: 'date-time',
    example: '2026-01-01T12:00:00.000Z',
  })
  readonly startedAt?: string;

  @ApiProperty({ required: false, type: 'integer', description: 'Seconds since startedAt.', example: 3600 })
  readonly uptimeSeconds?: number;
}

export class WorkerSummaryBody {
  @ApiProperty({ description: 'How many are RUNNING.', type: 'integer', example: 1 })
  readonly running!: number;

  @ApiProperty({ description: 'How many are IDLE.', type: 'integer', example: 0 })
  readonly idle!: number;

  @ApiProperty({ description: 'How many are INITIALIZING.', type: 'integer', example: 1 })
  readonly initializing!: number;

  @ApiProperty({ description: 'How many are THROTTLED.', type: 'integer', example: 0 })
  readonly throttled!: number;

  @ApiProperty({ description: 'How many are UNHEALTHY.', type: 'integer', example: 0 })
  readonly unhealthy!: number;

  @ApiProperty({ type: 'integer', description: 'The sum of the others.', example: 2 })
  readonly total!: number;
}

export class RejectedHostBody {
  @ApiProperty({ example: 'h7b2c5d8e1f4g9' })
  readonly id!: string;

  @ApiProperty({ description: 'What speaks against this host.', example: 'the worker needs 4 vCPU, 2 are free' })
  readonly reason!: string;
}

export class WaitingWorkerBody {
  @ApiProperty({ description: 'Why it could not be placed, as a word to branch on.', example: 'vcpu' })
  readonly reason!: string;

  @ApiProperty({
    description: 'The same for people.',
    example: 'one host was looked at; h7b2c5d8e1f4g9 came nearest: the worker needs 4 vCPU, 2 are free',
  })
  readonly detail!: string;

  @ApiProperty({ description: 'Since when.', format: 'date-time', example: '2026-01-01T12:00:00.000Z' })
  readonly since!: string;

  @ApiProperty({ description: 'What each host lacks.', type: () => [RejectedHostBody] })
  readonly hosts!: readonly RejectedHostBody[];
}

export class ScalingDecisionBody {
  @ApiProperty({ type: 'integer', description: 'Workers that are wanted.', example: 2 })
  readonly desired!: number;

  @ApiProperty({ description: 'Why so many, as a word to branch on.', example: 'demand' })
  readonly reason!: string;

  @ApiProperty({ description: 'The reason with the numbers that it rests on.', example: '2 jobs wait' })
  readonly detail!: string;

  @ApiProperty({ description: 'When that was decided.', format: 'date-time', example: '2026-01-01T12:00:00.000Z' })
  readonly decidedAt!: string;
}

export class WorkerListBody {
  @ApiProperty({ type: () => [WorkerBody], description: 'Oldest first; those that have no host yet come last.' })
  readonly workers!: readonly WorkerBody[];

  @ApiProperty({ description: 'The workers counted by their state.' })
  readonly summary!: WorkerSummaryBody;

  @ApiProperty({ type: 'integer', description: "The endpoint's latest release.", example: 3 })
  readonly endpointVersion!: number;

  @ApiProperty({ description: 'How far the latest release has come.' })
  readonly rollout!: RolloutBody;

  @ApiProperty({
    type: () => [WaitingWorkerBody],
    description: 'Why workers that are `THROTTLED` could not be placed, of the first 50.',
  })
  readonly waiting!: readonly WaitingWorkerBody[];

  @ApiProperty({
    type: () => ScalingDecisionBody,
    nullable: true,
    description: 'The last decision of the autoscaler; null before the first.',
  })
  readonly scaling!: ScalingDecisionBody | null;
}
