import { ApiProperty } from '@nestjs/swagger';
import type { DecisionInputs, DecisionOutcome } from '@berth/domain';
import { QueryIntegerField } from '../../fields/query-field.js';
import { TextField } from '../../fields/text-field.js';
import { ScalingDecisionBody, WaitingWorkerBody } from './worker.body.js';

const LIMIT_MAX = 1_000;
const CURSOR_DIGITS_MAX = 18;
export const SCALING_LIMIT_DEFAULT = 100;

export class ScalingQueryDto {
  @QueryIntegerField({
    isOptional: true,
    minimum: 1,
    maximum: LIMIT_MAX,
    default: SCALING_LIMIT_DEFAULT,
    description: 'How many decisions at most.',
    example: 100,
  })
  readonly limit?: number;

  @TextField({
    isOptional: true,
    maxLength: CURSOR_DIGITS_MAX,
    pattern: /^\d+$/,
    patternReason: 'must be the cursor of an earlier answer',
    description: 'Goes on where an earlier answer ended.',
    example: '4711',
  })
  readonly cursor?: string;
}

export class DecisionDemandBody {
  @ApiProperty({ type: 'integer', description: 'Jobs that waited, without those of low priority.', example: 3 })
  readonly queued!: number;

  @ApiProperty({ type: 'integer', description: 'Jobs of low priority that waited; they bring no worker.', example: 0 })
  readonly queuedLow!: number;

  @ApiProperty({ type: 'integer', description: 'Jobs that ran.', example: 1 })
  readonly running!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'How long the oldest job had waited, in ms; null where none waited.',
    example: 2_500,
  })
  readonly oldestWaitMs!: number | null;
}

export class DecisionInputsBody implements DecisionInputs {
  @ApiProperty({
    type: () => DecisionDemandBody,
    nullable: true,
    description: 'Null: it was not known which jobs there were, which changes nothing.',
  })
  readonly demand!: DecisionDemandBody | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 1 },
    description: "The endpoint's workers by phase; `placed`: its host had not reported it yet. What is absent is 0.",
    example: { placed: 1, idle: 2 },
  })
  readonly workers!: DecisionInputs['workers'];
}

export class DecisionOutcomeBody implements DecisionOutcome {
  @ApiProperty({ type: 'integer', description: 'Workers that were given a place.', example: 1 })
  readonly created!: number;

  @ApiProperty({ type: 'integer', description: 'Workers that were told to leave.', example: 0 })
  readonly drained!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Paused workers among those, whose place goes to another worker.',
    example: 0,
  })
  readonly evicted!: number;

  @ApiProperty({ type: 'integer', description: 'Workers that were told to pause for want of jobs.', example: 0 })
  readonly paused!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Workers that were told to stay after all, and paused ones that were woken.',
    example: 0,
  })
  readonly resumed!: number;

  @ApiProperty({ type: 'integer', description: 'Workers that were there no more.', example: 0 })
  readonly forgotten!: number;

  @ApiProperty({ type: 'integer', description: 'Workers that were wanted and had no place.', example: 2 })
  readonly unplaced!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why, as a word to branch on; null where all had a place.',
    example: 'gpu-busy',
  })
  readonly unplacedReason!: string | null;
}

export class ScalingHistoryEntryBody {
  @ApiProperty({ description: 'When it was decided.', format: 'date-time', example: '2026-01-01T12:00:00.000Z' })
  readonly at!: string;

  @ApiProperty({ type: 'integer', description: 'Workers that were wanted before.', example: 0 })
  readonly desiredBefore!: number;

  @ApiProperty({ type: 'integer', description: 'Workers that were wanted from then on.', example: 3 })
  readonly desired!: number;

  @ApiProperty({ description: 'Why so many, as a word to branch on.', example: 'from-zero' })
  readonly reason!: string;

  @ApiProperty({
    description: 'The reason with the numbers that it rests on.',
    example: '3 queued and 0 running, 1 per worker',
  })
  readonly detail!: string;

  @ApiProperty({ description: 'What it rested on.' })
  readonly inputs!: DecisionInputsBody;

  @ApiProperty({ description: 'What followed.' })
  readonly outcome!: DecisionOutcomeBody;
}

export class CurrentScalingBody extends ScalingDecisionBody {
  @ApiProperty({ type: () => [WaitingWorkerBody], description: 'Workers that are wanted and could not be placed.' })
  readonly waiting!: readonly WaitingWorkerBody[];
}

export class ScalingBody {
  @ApiProperty({
    type: () => CurrentScalingBody,
    nullable: true,
    description: 'The present decision; null before the first.',
  })
  readonly current!: CurrentScalingBody | null;

  @ApiProperty({ type: () => [ScalingHistoryEntryBody], description: 'Newest first.' })
  readonly decisions!: readonly ScalingHistoryEntryBody[];

  @ApiProperty({ type: String, nullable: true, description: 'Null at the end.', example: '4710' })
  readonly cursor!: string | null;
}
