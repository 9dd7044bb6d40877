import { ApiProperty } from '@nestjs/swagger';
import { FieldChangeBody } from '../audit/field-change.body.js';
import { RolloutBody } from './rollout.body.js';

export class ReleaseBody {
  @ApiProperty({ example: 'k3v9x0q2m7a1zd.3' })
  readonly id!: string;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'Ordinal: 1, 2, 3 and so on, without gaps.', example: 3 })
  readonly version!: number;

  @ApiProperty({ enum: ['MANUAL'], description: 'What caused it: a request.', example: 'MANUAL' })
  readonly source!: 'MANUAL';

  @ApiProperty({
    required: false,
    description: 'The API key that made it: keys are what acts here. Absent where it was not kept yet.',
    example: 'k3v9x0q2m7a1zd',
  })
  readonly createdByUserId?: string;

  @ApiProperty({
    required: false,
    description:
      'What its image stands for: every worker of the release runs these very bytes. Absent until the first has started, ' +
      'and for images that no registry gave.',
    example: `sha256:${'0a1b2c3d'.repeat(8)}`,
  })
  readonly imageDigest?: string;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Workers that run it now.', example: 1 })
  readonly workerCount!: number;

  @ApiProperty({ format: 'date-time', example: '2026-01-01T12:00:00.000Z' })
  readonly createdAt!: string;

  @ApiProperty({
    type: () => [FieldChangeBody],
    description: 'What workers are made of and it changed, in the order of the names; empty for the first.',
  })
  readonly diff!: readonly FieldChangeBody[];
}

export class ReleaseListBody {
  @ApiProperty({ type: 'integer', minimum: 1, description: 'The latest release.', example: 3 })
  readonly endpointVersion!: number;

  @ApiProperty({ description: 'How far the latest release has come.' })
  readonly rollout!: RolloutBody;

  @ApiProperty({ type: () => [ReleaseBody], description: 'Newest first; the newest 1,000 are kept.' })
  readonly releases!: readonly ReleaseBody[];
}
