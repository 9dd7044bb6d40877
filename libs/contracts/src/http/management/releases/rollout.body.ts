import { ApiProperty } from '@nestjs/swagger';
import type { Rollout } from '@berth/domain';

const STATES: readonly Rollout['state'][] = ['none', 'rolling', 'halted', 'done'];

export class RolloutBody implements Rollout {
  @ApiProperty({ description: 'Workers of an older release are still there.', example: true })
  readonly inProgress!: boolean;

  @ApiProperty({ description: 'Workers that run the latest release.', type: 'integer', minimum: 0, example: 1 })
  readonly workersOnLatest!: number;

  @ApiProperty({ description: 'All workers.', type: 'integer', minimum: 0, example: 2 })
  readonly workersTotal!: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: 100,
    description: 'Whole, rounded down; 100 without workers.',
    example: 50,
  })
  readonly percentOnLatest!: number;

  @ApiProperty({
    enum: STATES,
    description:
      '`none`: there is no worker. `rolling`: workers of an older release are still there. `halted`: the latest release does not come up, so the older workers stay. `done`: all workers run the latest.',
    example: 'rolling',
  })
  readonly state!: Rollout['state'];

  @ApiProperty({
    description: 'Why it is `halted`, or what it waits for, such as its image on a host; else empty.',
    example: '',
  })
  readonly reason!: string;
}
