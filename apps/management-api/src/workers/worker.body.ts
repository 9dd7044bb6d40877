import { ApiProperty } from '@nestjs/swagger';
import type { WorkerStatus } from '@berth/domain';

const STATUSES = ['RUNNING', 'IDLE', 'INITIALIZING', 'THROTTLED', 'UNHEALTHY'];

export class WorkerBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty({ enum: STATUSES })
  readonly status!: WorkerStatus;

  @ApiProperty({ description: 'Why it is in this state; empty when there is nothing to say.' })
  readonly reason!: string;

  @ApiProperty({ description: "It runs an older release than the endpoint's latest." })
  readonly isStale!: boolean;

  @ApiProperty({ type: 'integer', description: 'Its release.' })
  readonly version!: number;

  @ApiProperty({ required: false })
  readonly image?: string;

  @ApiProperty({ type: 'integer' })
  readonly gpuCount!: number;

  @ApiProperty({ required: false })
  readonly gpuTypeId?: string;

  @ApiProperty()
  readonly hostId!: string;

  @ApiProperty()
  readonly dataCenterId!: string;

  @ApiProperty({ required: false, format: 'date-time' })
  readonly startedAt?: string;

  @ApiProperty({ required: false, type: 'integer', description: 'Seconds since startedAt.' })
  readonly uptimeSeconds?: number;
}

export class WorkerSummaryBody {
  @ApiProperty({ type: 'integer' })
  readonly running!: number;

  @ApiProperty({ type: 'integer' })
  readonly idle!: number;

  @ApiProperty({ type: 'integer' })
  readonly initializing!: number;

  @ApiProperty({ type: 'integer' })
  readonly throttled!: number;

  @ApiProperty({ type: 'integer' })
  readonly unhealthy!: number;

  @ApiProperty({ type: 'integer', description: 'The sum of the others.' })
  readonly total!: number;
}

export class RejectedHostBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty({ description: 'What speaks against this host.' })
  readonly reason!: string;
}

export class WaitingWorkerBody {
  @ApiProperty()
  readonly reason!: string;

  @ApiProperty()
  readonly detail!: string;

  @ApiProperty({ format: 'date-time' })
  readonly since!: string;

  @ApiProperty({ type: () => [RejectedHostBody] })
  readonly hosts!: readonly RejectedHostBody[];
}

export class ScalingDecisionBody {
  @ApiProperty({ type: 'integer', description: 'Workers that are wanted.' })
  readonly desired!: number;

  @ApiProperty()
  readonly reason!: string;

  @ApiProperty({ description: 'The reason with the numbers that it rests on.' })
  readonly detail!: string;

  @ApiProperty({ format: 'date-time' })
  readonly decidedAt!: string;
}

export class WorkerListBody {
  @ApiProperty({ type: () => [WorkerBody], description: 'Oldest first.' })
  readonly workers!: readonly WorkerBody[];

  @ApiProperty()
  readonly summary!: WorkerSummaryBody;

  @ApiProperty({ type: 'integer', description: "The endpoint's latest release." })
  readonly endpointVersion!: number;

  @ApiProperty({ type: () => [WaitingWorkerBody], description: 'Workers that are wanted and could not be placed.' })
  readonly waiting!: readonly WaitingWorkerBody[];

  @ApiProperty({
    type: () => ScalingDecisionBody,
    nullable: true,
    description: 'The last decision of the autoscaler; null before the first.',
  })
  readonly scaling!: ScalingDecisionBody | null;
}
